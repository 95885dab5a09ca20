"""OpenAI's and Anthropic's messages in and out of Oneiro, for those who run an agent loop with one
of their clients. Neither package is needed: clients' objects are read by their ``model_dump()``.

:func:`window` gives what to send, :func:`capture` keeps what is new of it and the answer, and
:func:`to_openai`, :func:`to_anthropic`, :func:`from_openai` and :func:`from_anthropic` turn one
kind of messages into the other.

>>> import oneiro, tempfile
>>> from oneiro.compat.openai import capture, window
>>> def model(messages):  # stands for client.chat.completions.create
...     said = {"role": "assistant", "content": f"You said: {messages[-1]['content']}"}
...     usage = {"prompt_tokens": 9, "completion_tokens": 5}
...     choice = {"index": 0, "finish_reason": "stop", "message": said}
...     return {"id": f"chat-{len(messages)}", "model": "m", "choices": [choice], "usage": usage}
>>> folder = tempfile.TemporaryDirectory()
>>> memory = oneiro.open(folder.name)
>>> session = memory.create_session("monday", system_prompt="Be brief.")
>>> for question in ["Good morning!", "What is for lunch?"]:
...     messages = window(memory, "monday", budget=8_000, reserve=1_000)
...     messages.append({"role": "user", "content": question})
...     answer = model(messages)
...     kept = capture(memory, "monday", messages, answer)
>>> [message["content"] for message in memory.messages("monday")]
['Good morning!', 'You said: Good morning!', 'What is for lunch?', 'You said: What is for lunch?']
>>> memory.session("monday").output_tokens
10
>>> capture(memory, "monday", messages, answer).duplicate
True
>>> window(memory, "monday", budget=8_000, format="anthropic")["system"]
'Be brief.'
>>> memory.close()

In asyncio, run them in a thread: ``await asyncio.to_thread(window, memory.handle, ...)``.
"""

from oneiro.compat.openai.as_anthropic import to_anthropic
from oneiro.compat.openai.as_openai import to_openai
from oneiro.compat.openai.captured import Captured, capture
from oneiro.compat.openai.convert import LossWarning, from_anthropic, from_openai
from oneiro.compat.openai.served import window

__all__ = [
    "Captured",
    "LossWarning",
    "capture",
    "from_anthropic",
    "from_openai",
    "to_anthropic",
    "to_openai",
    "window",
]
