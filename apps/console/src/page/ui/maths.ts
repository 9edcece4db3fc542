import temml from 'temml';

/**
 * Longer formulas stay source text, and so do all formulas in an answer beyond this total, because
 * drawing them would block the page. The limits are in characters.
 */
const MAX_FORMULA = 4_000;
const MAX_ANSWER = 40_000;

/**
 * The maximum nesting of elements. Browsers lay out elements recursively, so deeper nesting could
 * crash the tab.
 */
const MAX_DEPTH = 60;

/**
 * The elements of MathML Core. A formula that needs other elements, such as a struck-out term,
 * stays source text.
 */
const ELEMENTS = new Set(
  [
    'math mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle mpadded mphantom',
    'msub msup msubsup munder mover munderover mmultiscripts mprescripts none',
    'mtable mtr mtd',
  ].flatMap((names) => names.split(' ')),
);

/**
 * The allowlist does not contain links, ids, style strings (which the content policy blocks) or
 * colors (which would be unreadable in light or dark mode).
 */
const ATTRIBUTES = new Set(
  [
    'accent accentunder columnalign depth display displaystyle fence form height largeop linethickness lspace mathsize',
    'mathvariant maxsize minsize movablelimits rowspacing rspace scriptlevel separator stretchy symmetric voffset width',
  ].flatMap((names) => names.split(' ')),
);

const OPTIONS = {
  throwOnError: true,
  trust: false,
  // Maximum lengths in em and points, so that spaces and lines are never larger than a screen.
  maxSize: [40, 400],
  maxExpand: 500,
} satisfies Parameters<typeof temml.render>[2];

/** A node of a drawn formula, as the library creates it before it becomes an element. */
interface FormulaNode {
  /** The element's name; absent for text nodes. */
  readonly type?: string;
  readonly attributes?: Record<string, string>;
  readonly style?: Record<string, string>;
  readonly children?: readonly FormulaNode[];
  toNode(): Node;
}

/** The library's types declare these functions under other names. */
const { __renderToMathMLTree: render } = temml as unknown as {
  __renderToMathMLTree(tex: string, options: Parameters<typeof temml.render>[2]): FormulaNode;
};

interface ParsedFormula {
  readonly tex: string;
  /** Whether the formula is displayed on a separate line. */
  readonly isDisplay: boolean;
}

const DISPLAY = /^(?:\$\$([\s\S]+)\$\$|\\\[([\s\S]+)\\\])$/;
const INLINE = /^(?:\$([\s\S]+)\$|\\\(([\s\S]+)\\\))$/;

/** Parses a formula with its delimiters; null if it has no delimiters. */
export function parseFormula(source: string): ParsedFormula | null {
  const [, ...display] = DISPLAY.exec(source) ?? [];
  const [, ...inline] = INLINE.exec(source) ?? [];
  const tex = [...display, ...inline].find((one) => one !== undefined);
  return tex === undefined ? null : { tex, isDisplay: display.length > 0 };
}

/**
 * Draws the formulas inside `box` as MathML. A formula that is too long or contains an error stays
 * source text.
 */
export function renderFormulas(box: ParentNode): void {
  let left = MAX_ANSWER;
  for (const span of box.querySelectorAll<HTMLElement>('.math:not([data-source])')) {
    const source = getFormulaSource(span);
    left -= source.length;
    if (left < 0) return;
    const formula = source.length > MAX_FORMULA ? null : parseFormula(source);
    const drawn = formula && renderFormula(formula);
    if (!drawn) continue;
    span.replaceChildren(drawn);
    span.dataset.source = source;
    span.classList.toggle('is-display', formula.isDisplay);
  }
}

/** The Markdown printer writes line ends as elements. */
function getFormulaSource(span: HTMLElement): string {
  return [...span.childNodes].map((node) => node.textContent || '\n').join('');
}

function renderFormula({ tex, isDisplay }: ParsedFormula): Node | null {
  try {
    const options = { ...OPTIONS, displayMode: isDisplay, wrap: 'tex' } as const;
    const drawn = render(tex, options);
    return stripAttributes(drawn) ? drawn.toNode() : null;
  } catch {
    // The source has an error, or is nested too deeply for the library.
    return null;
  }
}

/**
 * Removes disallowed attributes. Returns false if the formula contains an unsupported element or is
 * nested too deeply.
 */
function stripAttributes(drawn: FormulaNode, depth = 0): boolean {
  const { type, attributes = {}, style = {}, children = [] } = drawn;
  if ((type !== undefined && !ELEMENTS.has(type)) || depth > MAX_DEPTH) return false;
  for (const name of Object.keys(attributes)) {
    if (!ATTRIBUTES.has(name)) delete attributes[name];
  }
  delete style.color;
  return children.every((child) => stripAttributes(child, depth + 1));
}

/**
 * Puts formulas that are wider than their line into boxes that can be scrolled, including by
 * keyboard. Returns a function that stops the observation.
 */
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
