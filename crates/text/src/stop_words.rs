//! Function words of each language. It owns the lists; it must not know how languages are told
//! apart.

/// Stop words of other languages that are spelled like English words with another meaning.
pub(crate) const ALSO_ENGLISH: &str = "end men hat die war man sin din dig mine min son come tot sit \
met bin den van plus ton tout era mod vet op nun bis car sans ad sera chi dove mot ma ha pas os com \
ben dan hoe wel wie ole si vi ned fait fort pour sale em ya";

/// English.
pub(crate) const ENGLISH: &str = "a about above after again against all am an and any are aren \
arent as at be because been before being below between both but by can cannot cant could couldn \
couldnt did didn didnt do does doesn doesnt doing don dont down during each etc few for from \
further had hadn hadnt has hasn hasnt have haven havent having he her here hers herself him himself \
his how i if im in into is isn isnt it its itself just ll may me might more most must mustnt my \
myself no nor not of off on once only or other ought our ours ourselves out over own re same shall \
shan shant she should shouldn shouldnt so some such than that the their theirs them themselves then \
there these they this those through to too under until up upon us ve very was wasn wasnt we were \
weren werent what when where which while who whom whose why will with won wont would wouldn wouldnt \
you your yours yourself yourselves youre theyre ive whats thats also";

/// German.
pub(crate) const GERMAN: &str = "aber alle allem allen aller alles als also am an ander andere \
anderen anderer anderes auch auf aus bei beim bin bis bist da damit dann das dass dein deine deinem \
deinen deiner dem den denn der des dich die dies diese diesem diesen dieser dieses dir doch dort du \
durch ein eine einem einen einer eines er es etwas euch euer eure für gegen hab habe haben hat hatte \
hatten hattest hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins ist ja \
jede jedem jeden jeder jedes jene jetzt kann kannst kein keine keinem keinen keiner können könnte \
man mein meine meinem meinen meiner mich mir mit muss musste nach nicht nichts noch nun nur ob oder \
ohne sehr sein seine seinem seinen seiner seit sich sie sind so solche soll sollte sondern sonst über \
um und uns unser unsere unserem unseren unter viel vom von vor war waren warst was weil welche \
welchem welchen welcher welches wenn wer wem wen werde werden wie wieder will wir wird wirst wo \
wurde wurden während würde würden zu zum zur zwar zwischen warum wann wohin woher";

/// French.
pub(crate) const FRENCH: &str = "à ai aie ainsi alors après as au aucun aussi autre autres aux avait \
avant avec avez avoir avons c car ce ceci cela celle celles celui ces cet cette ceux chaque chez ci \
comme comment d dans de des depuis donc dont du elle elles en encore entre es est et étaient étais \
était étant été être eu eux fait fut il ils j je jusqu l la là le les leur leurs lors lui m ma mais \
me même mêmes mes moi moins mon n ne ni non nos notre nous on ont ou où par parce pas pendant peu \
peut plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se sera serait ses \
si sien son sont sous sur suis t ta te tes toi ton tous tout toute toutes très tu un une vos votre \
vous y";

/// Spanish.
pub(crate) const SPANISH: &str = "a al algo algunas algunos ante antes aquel aquella como con contra \
cual cuál cuando cuándo cuánto de del desde donde dónde durante e el él ella ellas ellos en entre era \
eran eras eres es esa esas ese eso esos esta está estaba estaban estado están estar estas este esto \
estos estoy fue fueron ha había habían han has hasta hay he hemos la las le les lo los más me mi mis \
mucho muchos muy nada ni no nos nosotros nuestra nuestro o os otra otras otro otros para pero poco \
por porque que qué quien quién quienes se sea ser si sí sido sin sobre sois somos son soy su sus \
también tanto te tenía tiene tienen tengo ti todo todos tu tú tus un una uno unos unas vosotros y ya \
yo";

/// Italian.
pub(crate) const ITALIAN: &str = "a abbiamo ad agli ai al alla alle all allo anche ancora avere aveva \
avevano avete c che chi ci come con contro cosa cosi così cui d da dagli dai dal dall dalla dalle \
dallo degli dei del dell della delle dello di dopo dove e è ed era erano essere fa fra fu gli ha hai \
hanno ho i il in io l la le lei li lo loro lui ma me mi mia mie miei mio ne negli nei nel nell nella \
nelle nello noi non nostra nostro o ogni per perché perchè più poi qual quale quali quando quanto \
quella quelle quelli quello questa queste questi questo qui sei si sia siamo siete sono sta stata \
stato su sua sue sugli sui sul sull sulla sulle sullo suo suoi te ti tra tu tua tue tuo tuoi tutti \
tutto un una uno vi voi";

/// Portuguese.
pub(crate) const PORTUGUESE: &str = "a à ao aos aquela aquele aqueles aquilo as às até com como da \
das de dela dele deles depois do dos e é ela elas ele eles em entre era eram essa essas esse esses \
esta está estão estar estas estava estavam este estes eu foi fomos for foram fosse há isso isto já \
lhe lhes lo mais mas me mesmo meu meus minha minhas muito muitos na nas não nem no nos nós nossa \
nosso num numa o onde os ou para pela pelas pelo pelos por porque quais qual quando que quê quem se \
sem ser será seu seus só sobre somos são sou sua suas também te tem têm tenho ter teu tinha tive tu \
tua um uma umas uns você vocês";

/// Dutch.
pub(crate) const DUTCH: &str = "aan af al als altijd andere ben bij daar dan dat de der deze die dit \
doch doen door dus een en er ge geen haar had heb hebben heeft hem het hier hij hoe hun iemand iets ik \
in is ja je jij jou jouw jullie kan kon kunnen maar me meer men met mij mijn moet na naar niet niets \
nog nu of om omdat onder ons onze ook op over reeds te tegen toch toen tot u uit uw van veel voor \
waar waarom want waren was wat we wel werd wezen wie wij wil worden wordt zal ze zei zelf zich zij \
zijn zo zonder zou wanneer welke";

/// Swedish.
pub(crate) const SWEDISH: &str = "alla allt att av blev bli blir de dem den denna deras dess det \
detta dig din dina dit ditt du där då efter ej eller en er era ert ett från för ha hade han hans har \
henne hennes hon honom hur här i icke ingen inom inte jag ju kan kunde man med mellan men mig min mina \
mitt mot mycket ni nu när någon något några och om oss på samma sedan sig sin sina sitta själv skulle \
som så till under upp ut utan vad var vara varför varit vars vart vem vi vid vilka vilken vilket vår \
våra vårt är åt över";

/// Danish.
pub(crate) const DANISH: &str = "ad af alle alt anden at blev blive bliver da de dem den denne der \
deres det dette dig din dine disse dog du efter eller en end er et for fra ham han hans har havde have \
hende hendes her hos hun hvad hvem hvis hvor hvornår hvorfor hvordan i ikke ind jeg jer jo kunne man \
mange med meget men mig min mine mit mod ned noget nogle nu når og også om op os over på selv sig sin \
sine sit skal skulle som sådan thi til ud under var vi vil ville vor være været";

/// Norwegian.
pub(crate) const NORWEGIAN: &str = "alle at av begge ble bli blir både da de deg dei deim deira dem \
den denne der dere deres det dette di din disse ditt du dykk då eg ein eit ei ekkje eller en enn er et \
etter for fordi fra før ha hadde han hans har hennar henne hennes her hjå ho hun hva hvem hver hvilken \
hvis hvor hvordan hvorfor i ikke ikkje inn ja jeg kan kom korleis kun kunne kva kvar kven man mange \
med meg meget mellom men mi min mine mitt mot mykje nå når ned no noe noen og også om opp oss over på \
samme seg selv si sia siden sin sine sitt sjøl skal skulle slik so som så til um upp ut uten var vart \
ved vere vi vil ville vore vår være vært";

/// Finnish.
pub(crate) const FINNISH: &str = "ei eivät emme en et ette että he heidän heille heitä hän häneen \
hänelle hänen häntä itse ja jo jos joka jonka jota jotka joten jotta kanssa ketä koska koskaan kuin \
kuinka kuka kun kyllä me meidän meille meitä mikä miksi milloin mille minkä minua minulla minulle \
minun minut minä missä mistä mitä mihin mukaan mutta myös myöten ne niiden niin niitä no noin nyt \
nämä ole olemme olen olet olette oli olimme olin olit olivat olla olleet ollut on ovat paitsi poikki \
se sekä sen siellä siinä siitä sille sinua sinulla sinun sinut sinä sitä sitten tai te teidän teille \
teitä tuo tuon tässä tämä tämän tätä vaan vai vaikka voi hyvin";

/// Russian.
pub(crate) const RUSSIAN: &str = "а без более больше будет будто бы был была были было быть в вам вас \
ваш вдруг ведь во вот все всегда всего всех вы где да даже два для до его ее ей ему если есть еще ж же \
за зачем здесь и из или им их к как какая какой какие кем когда кого кому конечно кто куда ли лучше \
между меня мне много может можно мой моя мои моё мы на над надо наконец нас наш не него нее ней нельзя \
нет ни нибудь никогда ним них ничего но ну о об один он она они оно опять от перед по под после потом \
потому почему почти при про раз разве с сам свою себе себя сейчас со совсем так такой там тебя тем \
теперь то тогда того тоже только том тот ты у уж уже хоть чего чем через что чтоб чтобы чуть эти это \
этого этой этом этот эту я";
