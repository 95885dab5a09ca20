//! What matters is kept in any language, and what is polite is not.

use crate::{assert_extracted, count, extract_of};

struct Case {
    said: &'static [(&'static str, &'static str)],
    target: usize,
    there: &'static [&'static str],
    not_there: &'static [&'static str],
}

fn assert_extract(case: &Case) {
    let all: usize = case.said.iter().map(|(_, text)| count(text)).sum();
    assert!(all > case.target * 4 / 3, "the case drops too little: {all}");
    assert_extracted(&extract_of(case.said, case.target), case.there, case.not_there);
}

#[test]
fn english() {
    assert_extract(&Case {
        said: &[
            ("Ana", "Hey! Good to see you! How have you been?"),
            ("Ben", "Hi Ana! I'm good, thanks. Oh wow, it's been so long! What's new with you?"),
            (
                "Ana",
                "So much! By the way, I moved to Porto on March 3 and adopted a greyhound called Biscuit.",
            ),
            ("Ben", "That's amazing! I'm so happy for you. That sounds really great."),
            ("Ana", "Thanks! The flat costs 950 euros a month, and Rita is my new neighbour."),
            ("Ben", "Wow, that's awesome. Good for you!"),
            ("Ana", "We decided to get married in Sintra next June. You must come!"),
            ("Ben", "Congrats! That's so great to hear. I can't wait."),
            ("Ana", "Do you still play the cello?"),
        ],
        target: 75,
        there: &["Porto", "Biscuit", "950 euros", "Sintra", "Ana: "],
        not_there: &[
            "Good to see you",
            "That sounds really great",
            "Wow, that's awesome",
            "By the way",
        ],
    });
}

#[test]
fn german() {
    assert_extract(&Case {
        said: &[
            ("Jonas", "Hallo! Schön, dass du da bist. Wie geht es dir denn so?"),
            ("Lena", "Danke, mir geht es gut. Und dir? Alles klar bei dir?"),
            (
                "Jonas",
                "Ja, alles gut, danke. Wir haben uns geeinigt: Der Umzug nach Leipzig ist am 14. August.",
            ),
            ("Lena", "Super, das klingt gut! Das freut mich sehr für euch."),
            (
                "Jonas",
                "Die Spedition Krämer verlangt ca. 1.850 Euro, und meine Tochter Frieda wechselt auf das Gymnasium.",
            ),
            ("Lena", "Toll. Das ist ja wirklich schön. Danke, dass du mir das erzählst."),
            ("Jonas", "Wer nimmt eigentlich den Hund?"),
        ],
        target: 80,
        there: &["Leipzig", "14. August", "1.850 Euro", "Frieda"],
        not_there: &["klingt gut", "Alles klar bei dir", "wirklich schön"],
    });
}

#[test]
fn russian() {
    assert_extract(&Case {
        said: &[
            ("Аня", "Привет! Как дела? Давно не виделись."),
            ("Олег", "Привет! Спасибо, всё хорошо. А ты как?"),
            ("Аня", "Мы переехали в Казань 12 марта. Моя дочь Вера пошла в музыкальную школу."),
            ("Олег", "Отлично! Очень рад за вас. Здорово!"),
            ("Аня", "Решили купить дачу за 2400000 рублей у озера."),
            ("Олег", "Хорошо, спасибо. Пока!"),
        ],
        target: 110,
        there: &["Казань 12 марта", "Вера", "дачу", "2400000"],
        not_there: &["Давно не виделись", "Очень рад"],
    });
}

#[test]
fn chinese() {
    assert_extract(&Case {
        said: &[
            ("小李", "你好！好久不见，最近怎么样？"),
            ("小王", "你好！我很好，谢谢。你呢？"),
            ("小李", "我们决定五月去成都旅行，住在锦江宾馆。我女儿对花生过敏。"),
            ("小王", "太好了！听起来不错。"),
            ("小李", "机票一共3200元，张伟已经付了。"),
            ("小王", "好的，没问题，谢谢你。再见！"),
        ],
        target: 70,
        there: &["成都", "花生过敏", "3200元"],
        not_there: &["好久不见", "听起来不错", "没问题"],
    });
}

#[test]
fn japanese() {
    assert_extract(&Case {
        said: &[
            ("健", "こんにちは！お久しぶりです。お元気ですか？"),
            ("由美", "こんにちは。元気です、ありがとう。"),
            ("健", "来月、京都に引っ越すことにした。娘の名前はさくらです。"),
            ("由美", "すごい！よかったですね。"),
            ("健", "家賃は8万円で、大家は田中さんです。"),
            ("由美", "了解です。ありがとうございます。"),
        ],
        target: 72,
        there: &["京都に引っ越す", "8万円", "健: "],
        not_there: &["お久しぶり", "よかったですね"],
    });
}

#[test]
fn arabic() {
    assert_extract(&Case {
        said: &[
            ("ليلى", "مرحبا! كيف حالك؟ لم أرك منذ وقت طويل."),
            ("سامي", "أهلا! أنا بخير، شكرا. وأنت؟"),
            (
                "ليلى",
                "قررنا السفر إلى مراكش يوم 12 أبريل. ابنتي سلمى عندها حساسية من الفول السوداني.",
            ),
            ("سامي", "ممتاز! هذا رائع جدا."),
            ("ليلى", "الفندق يكلف 450 درهم، ومن سيهتم بالقطة؟"),
        ],
        target: 125,
        there: &["مراكش", "12 أبريل", "450 درهم"],
        not_there: &["كيف حالك", "رائع جدا"],
    });
}
