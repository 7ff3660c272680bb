/**
 * The words that the most common passwords are made of, in lower case: with digits or symbols around it, or repeated,
 * each is among the first that an attacker tries. In alphabetical order.
 */
export const commonWords: ReadonlySet<string> = new Set(
  `
abcabc abcd access accounting admin administration administrator alexander amanda america andrea andrew angel
angels anthony apple april ashley asshole august austin autumn azerty babygirl bailey banana barcelona
baseball basketball batman beautiful blink bonjour boston brandon brooklyn buster buttercup butterfly
california calvin camaro canada changeit changeme changemenow changethis charlie cheese cheeseburger chelsea
chester chesterfield chicago chicken chocolate chris christian christmas christopher cjkysirj company computer
construction contrasena cookie corvette cosmopolitan counterstrike courtney cowboys dallas daniel database
december default defaultpassword demo devilmaycry diamond dkflbvbh dolphin dragon dragonball eagles einstein
elephant elizabeth eminem england everton facebook family february ferrari finalfantasy fktrcfylh flower
football forever forgot france freedom friday friends fuckme fucktheworld fuckyou fynfyf garfield gatehouse
gateway geheim george germany gfhjkm ghbdtn ghjcnj ginger golden google gothic greenlantern gregory guest
guitar hallo halloween hannah harley harrypotter haslo hasło headphones heather hello helloworld heslo hockey
hottie hunter iceman iloveme ilovemyfamily iloveyou iloveyouforever iloveyousomuch incorrect india
ingodwetrust instagram install intelligence international internet iseedeadpeople jackson jamesbond january
jasmine jason jennifer jessica jesus jesuschrist jesusislord john johnson jonathan jordan joseph joshua july
june junior justin justinbieber k.,jdm killer kimberly knight lakers leavemealone letmein letmeinnow
letmeinplease linkedin linkinpark liverpool login logmein london lovelove lovely loveme lovers loveyou lozinka
maggie manchester manchesterunited march maria marina marlboro martin master matrix matthew maverick melissa
mercedes merlin metallica mexico michael michaeljackson michelle microsoft minecraft mohammed monday money
monkey morgan mortalkombat motdepasse motherfucker mustang myname mypassword mypasswordis myspace naruto
natasha needforspeed newpassword newyork nicholas nicole nightcrawler nirvana nopassword nothing november
october office oliver operator orange parola parole pass passme passphrase passport passw passwd password
passwordis passwords passwort patrick peanut peanutbutter pepper philadelphia phoenix playstation pokemon
porsche potato prince princess private professional punksnotdead purple qazwsx qazwsxedc qwe qweasd qweasdzxc
qwer qwert qwerty qwertz raiders rainbow ranger rangers realmadrid rebecca residentevil robert root salasana
samantha samsung sanfrancisco satisfaction saturday scandinavian scooter secret secretpassword security senha
september server shadow shannon sifre silver slipknot snoopy soccer softball somebody sonnenschein
sonyericsson spiderman spring starcraft startrek starwars steelers stephanie stratocaster stupid summer sunday
sunshine superadmin superman supernatural supersecret superstar superuser support sysadmin system
systemofadown taylor temp temporary temppassword tennis test tester testing testpassword testtest thanksgiving
thebeatles thomas thunder thursday ticketmaster tiger tigger tinkerbell toor transformers trustme trustno
tuesday twitter unbelievable user username vanessa vfhbyf vfvfgfgf victoria victory vladimirovna wachtwoord
warcraft warhammer wednesday weihnachtsbaum welcome welcomehome welcometo whatever whosyourdaddy william
windows winner winter wizard wordpass worldofwarcraft yamaha yankees yellow yfnfif zaqwsx zxcvbn zxcvbnm
`
    .trim()
    .split(/\s+/),
)

/** Rows and columns of keyboards, alphabets, digits: walks along them are common passwords. */
export const keyboardRows: readonly string[] = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
  'qwertyuiop[]',
  'qwertzuiop',
  'azertyuiop',
  "asdfghjkl;'",
  'zxcvbnm,./',
  'yxcvbnm',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.0p;/',
  'qazwsxedcrfvtgbyhnujmikolp',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  'a1b2c3d4e5f6g7h8i9j0',
  '1a2b3c4d5e6f7g8h9i0j',
  'a1s2d3f4g5h6j7k8l9',
  '1a2s3d4f5g6h7j8k9l',
  'z1x2c3v4b5n6m7',
  '12qw34er56ty78ui90op',
  'qwaszxerdfcvtyghbn',
  'qawsedrftgyhujikolp',
  '00112233445566778899',
  '102030405060708090',
  '!@#$%^&*()_+',
  '!"§$%&/()=',
]
