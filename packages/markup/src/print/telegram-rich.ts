import type {
  CodeLeaf,
  Leaf,
  LeafContainer,
  TableCell,
  TableLeaf,
  TextLeaf,
  TextRun,
} from '../document.ts';
import { closeTag, escapeHtml, getLanguageClass, openTag } from './html.ts';
import { findCommonPrefix, walkRuns } from './lines.ts';

/** The limits of one rich message; blocks and formats share one nesting limit. */
const MAX = { characters: 32_768, blocks: 500, levels: 16, columns: 20 } as const;

/**
 * Prints leaves as the HTML of a rich message (`sendRichMessage`) if an ordinary one would lose a
 * heading, a table, a formula or a fold. Undefined when an ordinary message loses nothing, or when
 * the leaves exceed the limits of a rich message.
 */
export function printTelegramRich(leaves: readonly Leaf[]): string | undefined {
  const folds = pairFolds(leaves);
  if (!leaves.some((leaf) => folds.has(leaf) || needsRichMessage(leaf))) return undefined;
  const writer = new RichWriter();
  for (const leaf of leaves) writer.write(leaf, folds.get(leaf));
  return writer.finish();
}

function needsRichMessage(leaf: Leaf): boolean {
  switch (leaf.kind) {
    case 'table':
      return true;
    case 'text':
      return leaf.heading !== undefined || hasFormula(leaf.runs);
    default:
      return false;
  }
}

function hasFormula(runs: readonly TextRun[]): boolean {
  return runs.some(({ marks }) => marks.some(({ type }) => type === 'math'));
}

/** The beginning or the end of content that is hidden until its summary is tapped. */
type FoldEdge =
  | { readonly kind: 'begin'; readonly summary: string; readonly isOpen: boolean }
  | { readonly kind: 'end' };

/**
 * Finds `<details>` with its summary and `</details>`, each in a separate paragraph outside lists
 * and quotes. An unpaired tag is shown as written, like all HTML.
 */
function pairFolds(leaves: readonly Leaf[]): ReadonlyMap<Leaf, FoldEdge> {
  const folds = new Map<Leaf, FoldEdge>();
  let begun: [Leaf, FoldEdge] | undefined;
  for (const leaf of leaves) {
    if (leaf.kind !== 'text' || leaf.within.length > 0) continue;
    const text = leaf.runs
      .map((run) => run.text)
      .join('')
      .trim();
    const [, open, summary] = /^<details( open)?>\s*<summary>([^<>]*)<\/summary>$/.exec(text) ?? [];
    if (summary !== undefined) {
      begun = [leaf, { kind: 'begin', summary: summary.trim(), isOpen: open !== undefined }];
    } else if (text === '</details>' && begun !== undefined) {
      folds.set(...begun).set(leaf, { kind: 'end' });
      begun = undefined;
    }
  }
  return folds;
}

class RichWriter {
  #html = '';
  #open: readonly LeafContainer[] = [];
  /** Items that began in this part; the remainder of any other item is shown without a bullet. */
  readonly #begun = new Set<LeafContainer>();
  #characters = 0;
  #blocks = 0;
  #levels = 0;
  #columns = 0;
  #folds = 0;

  write(leaf: Leaf, fold: FoldEdge | undefined): void {
    for (const container of leaf.within.slice(leaf.fresh)) this.#begun.add(container);
    const path = this.#shownPath(leaf);
    const common = findCommonPrefix(this.#open, path).length;
    this.#close(common);
    for (const container of path.slice(common)) this.#enter(container);
    this.#open = path;
    if (fold !== undefined) this.#fold(fold);
    else this.#leaf(leaf, path.length + this.#folds);
  }

  /** The whole text; undefined when Telegram would refuse it. */
  finish(): string | undefined {
    this.#close(0);
    const fits =
      this.#characters <= MAX.characters &&
      this.#blocks <= MAX.blocks &&
      this.#levels <= MAX.levels &&
      this.#columns <= MAX.columns;
    return fits ? this.#html : undefined;
  }

  #shownPath({ within }: Leaf): LeafContainer[] {
    return within.filter((container, at) => {
      if (container.type === 'quote') return true;
      const item = container.type === 'item' ? container : within[at + 1];
      return item !== undefined && this.#begun.has(item);
    });
  }

  #close(depth: number): void {
    for (const container of this.#open.slice(depth).toReversed())
      this.#html += `</${getTag(container)}>`;
    this.#open = this.#open.slice(0, depth);
  }

  #enter(container: LeafContainer): void {
    this.#blocks += 1;
    if (container.type !== 'item') {
      this.#html += `<${getTag(container)}>`;
      return;
    }
    const { number, done, label } = container.marker;
    this.#html += number === undefined ? '<li>' : `<li value="${number}">`;
    if (done !== undefined) this.#html += `<input type="checkbox"${done ? ' checked' : ''}>`;
    if (label !== undefined) this.#text(`[${label}] `);
  }

  #fold(fold: FoldEdge): void {
    if (fold.kind === 'end') {
      this.#html += '</details>';
      this.#folds -= 1;
      return;
    }
    this.#blocks += 1;
    this.#folds += 1;
    this.#html += `<details${fold.isOpen ? ' open' : ''}><summary>`;
    this.#text(fold.summary);
    this.#html += '</summary>';
  }

  #leaf(leaf: Leaf, depth: number): void {
    this.#blocks += 1;
    this.#levels = Math.max(this.#levels, depth + countNestingLevels(leaf));
    switch (leaf.kind) {
      case 'text':
        this.#paragraph(leaf);
        break;
      case 'code':
        this.#code(leaf);
        break;
      case 'grid':
        this.#wrap('pre', () => this.#text([...leaf.header, ...leaf.rows].join('\n')));
        break;
      case 'table':
        this.#table(leaf);
        break;
      case 'rule':
        this.#html += '<hr/>';
        break;
    }
  }

  #paragraph({ runs, heading }: TextLeaf): void {
    const formula = findStandaloneFormula(runs);
    if (formula !== undefined) this.#wrap('tg-math-block', () => this.#text(formula));
    else this.#wrap(heading === undefined ? 'p' : `h${heading}`, () => this.#runs(runs));
  }

  #code({ language, text }: CodeLeaf): void {
    const name = getLanguageClass(language);
    this.#wrap('pre', () => {
      if (name !== undefined) this.#html += `<code class="${name}">`;
      this.#text(text);
      if (name !== undefined) this.#html += '</code>';
    });
  }

  #table({ header, rows, align }: TableLeaf): void {
    const row = (tag: 'th' | 'td', cells: readonly TableCell[]) => {
      this.#blocks += 1;
      this.#columns = Math.max(this.#columns, cells.length);
      this.#html += '<tr>';
      for (const [column, cell] of cells.entries()) {
        const side = align[column];
        this.#html += side === undefined ? `<${tag}>` : `<${tag} align="${side}">`;
        this.#runs(cell);
        this.#html += `</${tag}>`;
      }
      this.#html += '</tr>';
    };
    this.#html += '<table bordered>';
    row('th', header);
    for (const cells of rows) row('td', cells);
    this.#html += '</table>';
  }

  #runs(runs: readonly TextRun[]): void {
    walkRuns(runs, {
      open: (mark) => {
        this.#html += openTag(mark);
      },
      close: (mark) => {
        this.#html += closeTag(mark);
      },
      text: (text, index) => {
        const marks = runs[index]?.marks ?? [];
        const isFormula = marks.some(({ type }) => type === 'math');
        // Tags have no meaning in `code` and `pre`.
        const isRaw = isFormula || marks.some(({ type }) => type === 'code');
        const lines = (isFormula ? stripDelimiters(text) : text).split('\n');
        for (const [nth, line] of lines.entries()) {
          if (nth > 0) this.#html += isRaw ? '\n' : '<br>';
          this.#text(line);
        }
      },
    });
  }

  #text(text: string): void {
    this.#characters += text.length;
    this.#html += escapeHtml(text);
  }

  #wrap(tag: string, content: () => void): void {
    this.#html += `<${tag}>`;
    content();
    this.#html += `</${tag}>`;
  }
}

function getTag(container: LeafContainer): string {
  if (container.type === 'quote') return 'blockquote';
  if (container.type === 'item') return 'li';
  return container.start === undefined ? 'ul' : 'ol';
}

/** The nesting levels of a leaf itself: a row and a cell, and the formats of its text. */
function countNestingLevels(leaf: Leaf): number {
  const deepest = (runs: readonly TextRun[]) =>
    Math.max(0, ...runs.map(({ marks }) => marks.length));
  if (leaf.kind === 'text') return 1 + deepest(leaf.runs);
  if (leaf.kind === 'table') return 3 + deepest([leaf.header, ...leaf.rows].flat(2));
  return 2;
}

const DELIMITERS = [
  ['$$', '$$'],
  ['\\[', '\\]'],
  ['\\(', '\\)'],
  ['$', '$'],
] as const;

/** The LaTeX of a formula; a truncated formula keeps its remaining text. */
function stripDelimiters(text: string): string {
  for (const [begin, end] of DELIMITERS) {
    const isWhole = text.length > begin.length + end.length;
    if (isWhole && text.startsWith(begin) && text.endsWith(end))
      return text.slice(begin.length, -end.length).trim();
  }
  return text;
}

/** The LaTeX of a paragraph that consists of one formula on separate lines. */
function findStandaloneFormula(runs: readonly TextRun[]): string | undefined {
  const [only, ...others] = runs;
  if (only === undefined || others.length > 0 || !hasFormula([only])) return undefined;
  return /^(?:\$\$|\\\[)/.test(only.text) ? stripDelimiters(only.text) : undefined;
}
