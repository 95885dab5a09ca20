//! The web page: functions from what the engine answered to HTML, and the files it loads. It must not know HTTP.
