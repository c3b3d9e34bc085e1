// Runs in a browser's page: finds text that a reader does not see whole. Text is measured as it is drawn, line by line.

/** Pixels by which a letter may leave its box: browsers round. */
const SIDEWAYS = 0.5;
/** The box of a letter is higher than the letter. */
const UPWARDS = 2;
/** A longer name may be broken, but not into pieces of a letter or two. */
const LONGEST_WHOLE = 24;
const FEWEST_LETTERS = 3;

const NOT_DRAWN = "script, style, noscript, textarea, select";
const COVERS = "img, svg, input, select, textarea, progress, button";

/** @returns a sentence for each text below an element that leaves its box, is cut, broken or covered. */
globalThis.findCutText = (root) => {
  const texts = shownTexts(root);
  const inPlace = texts.filter((text) => leaving(text).length === 0);
  const found = [...texts.flatMap(leaving), ...texts.flatMap(broken), ...covered(root, inPlace), ...controls(root)];
  return [...new Set(found)];
};

/** Texts with a rectangle for each line. Nodes beside each other are one text. */
function shownTexts(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts = [];
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    if (isText(node.previousSibling) || element.closest(NOT_DRAWN) !== null || !isShown(element)) continue;
    const nodes = [node];
    while (isText(nodes.at(-1).nextSibling)) nodes.push(nodes.at(-1).nextSibling);
    const data = nodes.map((each) => each.data).join("");
    const text = data.trim();
    if (text === "") continue;
    const start = data.indexOf(text);
    const lines = rectanglesOf(nodes, start, start + text.length);
    texts.push({ nodes, data, text, lines, element, layer: layerOf(element) });
  }
  return texts;
}

const isText = (node) => node?.nodeType === Node.TEXT_NODE;

/** The rectangles of a part of texts beside each other. */
function rectanglesOf(nodes, start, end) {
  const range = document.createRange();
  range.setStart(...placeIn(nodes, start));
  range.setEnd(...placeIn(nodes, end));
  return [...range.getClientRects()].filter(({ width }) => width > 0);
}

function placeIn([node, ...rest], offset) {
  return offset <= node.length ? [node, offset] : placeIn(rest, offset - node.length);
}

/** What is clipped to nothing is for screen readers. */
function isShown(element) {
  const ancestors = ancestorsOf(element);
  const drawn = ancestors.find((each) => getComputedStyle(each).display !== "contents");
  if (!drawn.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false;
  return !ancestors.some((each) => getComputedStyle(each).clipPath !== "none");
}

function ancestorsOf(element) {
  const all = [];
  for (let each = element; each !== null; each = each.parentElement) all.push(each);
  return all;
}

/** The element in front of the page to which an element belongs: only what is in one layer must not overlap. */
function layerOf(element) {
  return ancestorsOf(element).find((each) => /absolute|fixed/.test(getComputedStyle(each).position)) ?? null;
}

/** Texts that leave a cell, a box with a border or a colour, or what hides the rest; or the page. */
function leaving({ text, lines, element, layer }) {
  const scrolls = { x: false, y: false };
  const outside = ({ left, right, top, bottom }) => ({
    x: !scrolls.x && lines.some((line) => line.left < left - SIDEWAYS || line.right > right + SIDEWAYS),
    y: !scrolls.y && lines.some((line) => line.top < top - UPWARDS || line.bottom > bottom + UPWARDS),
  });
  for (const each of ancestorsOf(element)) {
    const style = getComputedStyle(each);
    if (each === document.body) break;
    if (hasNoBox(each, style)) continue;
    const { x, y } = outside(insideOf(each, style));
    if ((x && hides(style.overflowX)) || (y && hides(style.overflowY)))
      return [`${quote(text)} is cut by ${nameOf(each)}`];
    scrolls.x ||= x && /auto|scroll/.test(style.overflowX);
    scrolls.y ||= y && /auto|scroll/.test(style.overflowY);
    if (((x && !scrolls.x) || (y && !scrolls.y)) && isBox(style)) return [`${quote(text)} leaves ${nameOf(each)}`];
    if (each === layer) break;
  }
  const page = { left: 0, right: document.documentElement.clientWidth, top: -Infinity, bottom: Infinity };
  return outside(page).x ? [`${quote(text)} leaves the page`] : [];
}

const hasNoBox = (element, { display }) => /^(inline|contents)$/.test(display) && element.localName !== "svg";
const hides = (overflow) => /hidden|clip/.test(overflow);

/** The box within the borders. */
function insideOf(element, style) {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  const border = (side) => Number.parseFloat(style[`border${side}Width`]) || 0;
  return {
    ...{ left: left + border("Left"), right: right - border("Right") },
    ...{ top: top + border("Top"), bottom: bottom - border("Bottom") },
  };
}

/** Whether a reader sees where an element ends, or expects its text there. */
function isBox({ display, borderLeftWidth, borderRightWidth, backgroundColor, boxShadow }) {
  const hasSides = Number.parseFloat(borderLeftWidth) > 0 && Number.parseFloat(borderRightWidth) > 0;
  const isFilled = !/^rgba\(.*, 0\)$|^transparent$/.test(backgroundColor);
  return display === "table-cell" || hasSides || isFilled || boxShadow !== "none";
}

/** Words, numbers and dates that end in another line than they begin. */
function broken({ nodes, data, text, lines }) {
  if (lines.length < 2) return [];
  const found = [];
  // A browser may begin a line behind a hyphen, but not within a date.
  for (const { 0: word, index } of data.matchAll(/(?:[^\s/-]|[/-](?=\d))+/g)) {
    const pieces = new Set(rectanglesOf(nodes, index, index + word.length).map(({ top }) => Math.round(top))).size;
    const mayBreak = /\p{L}/u.test(word) && word.length > LONGEST_WHOLE;
    const isWhole = pieces < 2 || (mayBreak && word.length / pieces >= FEWEST_LETTERS);
    if (!isWhole) found.push(`${quote(word)} of ${quote(text)} is broken into ${pieces} lines`);
  }
  return found;
}

/** Texts that lie over each other, or below a control or a picture. */
function covered(root, texts) {
  const things = [...root.querySelectorAll(COVERS)]
    .filter(isShown)
    .map((element) => ({ element, layer: layerOf(element), lines: [element.getBoundingClientRect()] }));
  const overlap = (one, other) =>
    one.layer === other.layer && one.lines.some((a) => other.lines.some((b) => overlaps(a, b)));
  return texts.flatMap((one, index) => [
    ...texts
      .slice(index + 1)
      .filter((other) => overlap(one, other))
      .map((other) => `${quote(one.text)} and ${quote(other.text)} overlap`),
    ...things
      .filter((thing) => !thing.element.contains(one.element) && overlap(one, thing))
      .map(({ element }) => `${quote(one.text)} and ${nameOf(element)} overlap`),
  ]);
}

/** Lines of a text are closer than the boxes of their letters. */
function overlaps(a, b) {
  const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  return width > 2 * SIDEWAYS && height > Math.min(a.height, b.height) / 3;
}

/** Chosen options and examples that are wider than their control. */
function controls(root) {
  const selects = [...root.querySelectorAll("select")].filter((select) => isShown(select) && isTooNarrow(select));
  const inputs = [...root.querySelectorAll("input[placeholder]")].filter(
    (input) => isShown(input) && cutsExample(input),
  );
  return [
    ...selects.map(({ selectedOptions }) => `${quote(selectedOptions[0].text)} is cut by its select`),
    ...inputs.map(({ placeholder }) => `${quote(placeholder)} is cut by its input`),
  ];
}

function isTooNarrow(select) {
  const [chosen] = select.selectedOptions;
  if (chosen === undefined) return false;
  const free = select.cloneNode(false);
  free.append(new Option(chosen.text));
  Object.assign(free.style, { position: "absolute", width: "auto", minWidth: "0", maxWidth: "none" });
  select.after(free);
  const { width } = free.getBoundingClientRect();
  free.remove();
  return width > select.getBoundingClientRect().width + SIDEWAYS;
}

function cutsExample(input) {
  if (input.value !== "") return false;
  const { font, paddingLeft, paddingRight } = getComputedStyle(input);
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = font;
  const room = input.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
  return pen.measureText(input.placeholder).width > room + SIDEWAYS;
}

function quote(text) {
  const words = text.replace(/\s+/g, " ");
  return `"${words.length > 60 ? `${words.slice(0, 59)}…` : words}"`;
}

function nameOf(element) {
  return [element.localName, ...element.classList].join(".");
}
