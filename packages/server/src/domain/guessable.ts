/*
 * Passwords that are guessed first: common words, years, and runs of the keyboard, digits or alphabet, up to a few
 * combined. A rule also catches their usual endings, which a list of a thousand passwords would miss.
 */

/** Characters that people type for letters, and the letters. An l counts as an i, in words and in passwords. */
const LOOKALIKES = "01l!|3€4@5$7+89";
const LETTERS = "oiiiieeaassttbg";

/** Words of the best known passwords, and of workplaces. */
const WORDS = `
  password passwort passord passwd passphrase pass word parola secret geheim letmein welcome willkommen bienvenue login
  logon access changeme change default temp test testing guest user username root admin administrator adm system sys
  server service support helpdesk office company console internet network fiber fibre wifi router modem television
  telecom cable iptv online digital computer windows google facebook samsung android topup topupd billing payment
  finance money bank manager staff employee work master superuser super boss king queen god hello hi world home house
  family mother father mom dad baby boy girl friend love lovely iloveyou you me my i we the is this that it a to of and
  not for one no yes please trustno trust open sesame opensesame correct horse battery staple
  monkey dragon tiger lion eagle bear wolf cat dog puppy kitty horse shadow sunshine princess prince angel flower rose
  summer winter spring autumn monday friday sunday january april may june july august october november december
  football soccer cricket baseball basketball hockey liverpool chelsea arsenal barcelona real madrid ronaldo messi
  superman batman spider man spiderman ironman pokemon starwars star wars matrix ninja killer hunter ranger warrior
  michael jordan jessica michelle ashley daniel charlie thomas andrew robert william jennifer nicole anthony matthew
  joshua maria david alex sam jack george harry jesus christ lord ram krishna shiva ganesh lakshmi sita hari om
  nepal nepali kathmandu pokhara himalaya everest india indian bharat delhi mumbai pakistan america england london
  orange apple banana cookie chocolate cheese pepper ginger purple silver golden gold blue green red black white
  freedom forever whatever nothing something fuck sexy hot qwerty qwertz azerty keyboard
  abc number phone mobile mustang ferrari porsche mercedes corvette harley yamaha honda toyota
`
  .trim()
  .split(/\s+/)
  .map(plain);

/** Number of pieces, or single characters, that are guessed quickly. */
const FEW = 4;
/** Longest run or word checked. Longer runs count as several pieces or as repetitions. */
const LONGEST_PIECE = 20;

/** @param names names of the account and of the person, which are known to everyone. */
export function isEasilyGuessed(password: string, names: string): boolean {
  const text = password.normalize("NFKC").toLowerCase();
  const ofPerson = [names, ...names.split(/[^\p{L}\p{N}]+/u)].filter((name) => name.length > 2);
  const words = new Set([...WORDS, ...ofPerson.map((name) => plain(name.normalize("NFKC").toLowerCase()))]);
  const [, unit = text] = /^(.+?)\1+$/su.exec(text) ?? [];
  const doubled = /^(?:(.)\1)+$/su.test(text) ? text.replace(/(.)\1/gsu, "$1") : text;
  const joined = text.replace(/[\s._-]/g, "");
  return [text, joined, unit, doubled].some((each) => countPieces(each, words) <= FEW);
}

/** The least number of pieces that make up a text. */
function countPieces(text: string, words: ReadonlySet<string>): number {
  const fewest = [0];
  for (let end = 1; end <= text.length; end += 1) {
    let least = Number.POSITIVE_INFINITY;
    for (let start = Math.max(0, end - LONGEST_PIECE); start < end; start += 1) {
      const before = fewest[start] ?? 0;
      if (before + 1 < least && isPiece(text.slice(start, end), words)) least = before + 1;
    }
    fewest.push(least);
  }
  return fewest[text.length] ?? 0;
}

function isPiece(part: string, words: ReadonlySet<string>): boolean {
  if (part.length === 1 || /^\d{2,4}$/.test(part) || words.has(plain(part))) return true;
  return (
    isRun(part, isSame) || (part.length > 2 && (isRun(part, isNext) || isRun(part, isBefore) || isRun(part, isBeside)))
  );
}

function plain(text: string): string {
  return text.replace(/./gsu, (character) => LETTERS[LOOKALIKES.indexOf(character)] ?? character);
}

type Follows = (one: string, other: string) => boolean;

function isRun(part: string, follows: Follows): boolean {
  for (let index = 1; index < part.length; index += 1)
    if (!follows(part[index - 1] ?? "", part[index] ?? "")) return false;
  return true;
}

const isSame: Follows = (one, other) => one === other;
const isNext: Follows = (one, other) => other.charCodeAt(0) === one.charCodeAt(0) + 1 || `${one}${other}` === "90";
const isBefore: Follows = (one, other) => isNext(other, one);

/** Each row is half a key to the right of the row above it. */
const KEYS = ["1234567890-=", "qwertyuiop[]", "asdfghjkl;'", "zxcvbnm,./"];

const isBeside: Follows = (one, other) => {
  const [from, to] = [placeOf(one), placeOf(other)];
  if (from === undefined || to === undefined) return false;
  const [down, right] = [to.row - from.row, to.column - from.column];
  if (down === 0) return Math.abs(right) === 1;
  return (down === 1 && (right === 0 || right === -1)) || (down === -1 && (right === 0 || right === 1));
};

function placeOf(key: string): { readonly row: number; readonly column: number } | undefined {
  const row = KEYS.findIndex((keys) => keys.includes(key));
  return row < 0 ? undefined : { row, column: KEYS[row]?.indexOf(key) ?? 0 };
}
