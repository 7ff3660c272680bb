/** Personal data that a password must not consist of. */
export interface PasswordOwner {
  readonly email: string
  readonly firstName: string
  readonly lastName: string
}

/**
 * The length of a keyboard walk. At least 3, as many words contain two neighbouring keys; at most the longest walk
 * searched for.
 */
const walkLength = { min: 3, max: 48 } as const
/** How many characters may follow the last walk. */
const trailingCharactersMax = 2
/** The longest unit whose repetition counts as a common password. */
const repeatedUnitLengthMax = 4
/** The shortest name searched for: many words contain shorter ones. */
const nameLengthMin = 3
/** How many characters must remain without the owner's names. */
const remainderLengthMin = 8

/**
 * Whether a password is one of those that attackers try first: a common word with digits and symbols around it, a
 * keyboard walk, or the same few characters repeated (NIST SP 800-63B 3.1.1.2).
 */
export function isCommonPassword(password: string): boolean {
  const text = normalizeText(password)
  const core = fromFirstToLastLetter(text)
  // A symbol at the end may stand for a letter, as in pa$$.
  const spelled = fromFirstToLastLetter(replaceLeet(text))
  const unit = unitOf(text)
  if (unit.length <= repeatedUnitLengthMax) return true
  if (
    [unit, core, unitOf(core), replaceLeet(core), unitOf(replaceLeet(core)), spelled].some((word) =>
      commonWords.has(word),
    )
  )
    return true
  return isKeyboardWalk(text)
}

function fromFirstToLastLetter(text: string): string {
  return text.replace(/^[^\p{L}]+|(?<=\p{L})[^\p{L}]+$/gu, '')
}

/** Whether a password consists mostly of its owner's e-mail and names. */
export function isMostlyPersonalData(
  password: string,
  { email, firstName, lastName }: PasswordOwner,
): boolean {
  const [local = '', domain = ''] = normalizeText(email).split('@')
  const names = [
    normalizeText(email),
    local,
    domain,
    ...local.split(/[^\p{L}\p{N}]+/u),
    ...normalizeText(`${firstName} ${lastName}`).split(/\s+/),
  ]
  const own = names.filter((name) => name.length >= nameLengthMin).toSorted((a, b) => b.length - a.length)
  const rest = own.reduce((text, name) => text.replaceAll(name, ' '), normalizeText(password))
  const isTouched = rest !== normalizeText(password)
  return isTouched && [...rest.replace(/[\s\p{P}]/gu, '')].length < remainderLengthMin
}

function normalizeText(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

const leetLetters: Readonly<Record<string, string>> = {
  '@': 'a',
  '4': 'a',
  '3': 'e',
  '1': 'i',
  '!': 'i',
  '0': 'o',
  $: 's',
  '5': 's',
  '7': 't',
}

/** The text with letters in place of the symbols and digits that represent them. */
function replaceLeet(text: string): string {
  return text.replaceAll(/[@43!10$57]/g, (sign) => leetLetters[sign] ?? sign)
}

/** The unit that the text repeats, or the whole text. */
function unitOf(text: string): string {
  const end = (text + text).indexOf(text, 1)
  return end > 0 ? text.slice(0, end) : text
}

/** Whether nearly all of the text runs along rows of keys, in either direction, at least three keys at a time. */
function isKeyboardWalk(text: string): boolean {
  const reachable = new Set([0])
  let last = 0
  for (let start = 0; start < text.length; start++) {
    if (!reachable.has(start)) continue
    // Every prefix of a walk is one too.
    const end = start + Math.max(sameLength(text, start), rowLength(text, start))
    for (let at = start + walkLength.min; at <= end; at++) reachable.add(at)
    if (end >= start + walkLength.min) last = Math.max(last, end)
  }
  return last >= text.length - trailingCharactersMax
}

/** How often the character at an index comes in a row. */
function sameLength(text: string, start: number): number {
  let end = start + 1
  while (end < text.length && end - start < walkLength.max && text[end] === text[start]) end++
  return end - start
}

/** How far the text at an index runs along a row of keys. */
function rowLength(text: string, start: number): number {
  let end = start
  while (end < text.length && rows.some((row) => row.includes(text.slice(start, end + 1)))) end++
  return end - start
}

/**
 * The words that the most common passwords consist of, in lower case and alphabetical order. With digits or symbols
 * around it, or repeated, each is among the first that an attacker tries.
 */
const commonWords: ReadonlySet<string> = new Set(
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
const keyboardRows: readonly string[] = [
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

const rows = keyboardRows.flatMap((row) => [row, [...row].reverse().join('')])
