import temml from 'temml';

/** A longer formula, and what follows after so much of one answer, stays source: drawing it would hold up the page. In characters. */
const MAX_FORMULA = 4_000;
const MAX_ANSWER = 40_000;

/** Elements within each other; a browser lays them out by recursion, and more could end the tab. */
const MAX_DEPTH = 60;

/** The elements of MathML Core; what needs others, such as a struck-out term, stays source. */
const ELEMENTS = new Set(
  [
    'math mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle mpadded mphantom',
    'msub msup msubsup munder mover munderover mmultiscripts mprescripts none',
    'mtable mtr mtd',
  ].flatMap((names) => names.split(' ')),
);

/** No address, no id, no style as text, which the content policy stops, and no color, which would be unreadable in light or dark. */
const ATTRIBUTES = new Set(
  [
    'accent accentunder columnalign depth display displaystyle fence form height largeop linethickness lspace mathsize',
    'mathvariant maxsize minsize movablelimits rowspacing rspace scriptlevel separator stretchy symmetric voffset width',
  ].flatMap((names) => names.split(' ')),
);

const OPTIONS = {
  throwOnError: true,
  trust: false,
  // In em and points: no space or line is larger than a screen.
  maxSize: [40, 400],
  maxExpand: 500,
} satisfies Parameters<typeof temml.render>[2];

/** A piece of a drawn formula, as the library makes it before there is an element. */
interface Drawn {
  /** The name of the element; absent on text. */
  readonly type?: string;
  readonly attributes?: Record<string, string>;
  readonly style?: Record<string, string>;
  readonly children?: readonly Drawn[];
  toNode(): Node;
}

/** The types of the library have its parts under other names. */
const { __renderToMathMLTree: render } = temml as unknown as {
  __renderToMathMLTree(tex: string, options: Parameters<typeof temml.render>[2]): Drawn;
};

interface Formula {
  readonly tex: string;
  /** It stands on a line of its own. */
  readonly isDisplay: boolean;
}

const DISPLAY = /^(?:\$\$([\s\S]+)\$\$|\\\[([\s\S]+)\\\])$/;
const INLINE = /^(?:\$([\s\S]+)\$|\\\(([\s\S]+)\\\))$/;

/** Reads a formula with the signs around it; null when it has none. */
export function readFormula(source: string): Formula | null {
  const [, ...display] = DISPLAY.exec(source) ?? [];
  const [, ...inline] = INLINE.exec(source) ?? [];
  const tex = [...display, ...inline].find((one) => one !== undefined);
  return tex === undefined ? null : { tex, isDisplay: display.length > 0 };
}

/** Draws the formulas below `box` as MathML. One that is too long, or has a mistake, stays source. */
export function drawFormulas(box: ParentNode): void {
  let left = MAX_ANSWER;
  for (const span of box.querySelectorAll<HTMLElement>('.math:not([data-source])')) {
    const source = sourceOf(span);
    left -= source.length;
    if (left < 0) return;
    const formula = source.length > MAX_FORMULA ? null : readFormula(source);
    const drawn = formula && draw(formula);
    if (!drawn) continue;
    span.replaceChildren(drawn);
    span.dataset.source = source;
    span.classList.toggle('is-display', formula.isDisplay);
  }
}

/** The printer writes a line end as an element. */
function sourceOf(span: HTMLElement): string {
  return [...span.childNodes].map((node) => node.textContent || '\n').join('');
}

function draw({ tex, isDisplay }: Formula): Node | null {
  try {
    const options = { ...OPTIONS, displayMode: isDisplay, wrap: 'tex' } as const;
    const drawn = render(tex, options);
    return isPlain(drawn) ? drawn.toNode() : null;
  } catch {
    // A mistake in the source, or more nesting than the library can follow.
    return null;
  }
}

/** Takes out what a formula may not have; false: it has an element that cannot be shown, or too many within each other. */
function isPlain(drawn: Drawn, depth = 0): boolean {
  const { type, attributes = {}, style = {}, children = [] } = drawn;
  if ((type !== undefined && !ELEMENTS.has(type)) || depth > MAX_DEPTH) return false;
  for (const name of Object.keys(attributes)) {
    if (!ATTRIBUTES.has(name)) delete attributes[name];
  }
  delete style.color;
  return children.every((child) => isPlain(child, depth + 1));
}

/** Gives formulas that are wider than their line a box to scroll in, by keyboard, too. Returns the function that ends it. */
export function fitFormulas(box: Element): () => void {
  const fit = (): void => {
    const spans = [...box.querySelectorAll<HTMLElement>('.math[data-source]')];
    const widths = spans.map((span) => {
      const line = span.closest('p, li, td, th, blockquote, h1, h2, h3, h4, h5, h6') ?? box;
      return { span, isWide: (span.firstElementChild?.scrollWidth ?? 0) > line.clientWidth };
    });
    for (const { span, isWide } of widths) setWide(span, isWide);
  };
  const observer = new ResizeObserver(fit);
  observer.observe(box);
  return () => observer.disconnect();
}

function setWide(span: HTMLElement, isWide: boolean): void {
  span.classList.toggle('is-wide', isWide);
  if (isWide) Object.assign(span, { tabIndex: 0, role: 'group', ariaLabel: 'Formula' });
  else for (const name of ['tabindex', 'role', 'aria-label']) span.removeAttribute(name);
}
