/** What makes a stretch of Markdown slow to parse, counted without parsing it. */
export interface Risk {
  readonly length: number;
  readonly lines: number;
  /** `*`, `_` and `~`: the parser compares every closer with every opener. */
  readonly marks: number;
  /** `[` and `]`. */
  readonly brackets: number;
  /** `&`, slow at the end of a bare address. */
  readonly references: number;
  /** `|`: cells of a table, each of which is parsed by itself. */
  readonly cells: number;
  /** Lines that open or underline a block: list items, quotes, `===`. */
  readonly markers: number;
  /** Deepest nesting of lists and quotes. */
  readonly depth: number;
}

/**
 * What one call of the parser gets at most. Measured on two cores at these limits: 10–50 ms a call,
 * while 80 kB of `a**b` in one call takes 10–68 s and 500 list levels 5 s.
 */
export const SAFE: Risk = {
  length: 16_000,
  lines: 1_000,
  marks: 1_000,
  brackets: 800,
  references: 500,
  cells: 2_000,
  markers: 300,
  depth: 24,
};

/** What adds up; depth does not. */
const SUMS = ['length', 'lines', 'marks', 'brackets', 'references', 'cells', 'markers'] as const;

/** Nothing yet; the start of a sum. */
export const NO_RISK: Risk = {
  length: 0,
  lines: 0,
  marks: 0,
  brackets: 0,
  references: 0,
  cells: 0,
  markers: 0,
  depth: 0,
};

/** Whether the parser can take this in one call. */
export function isSafe(risk: Risk, limit: Risk = SAFE): boolean {
  return risk.depth <= limit.depth && SUMS.every((kind) => risk[kind] <= limit[kind]);
}

/** The risk of two stretches parsed together. */
export function addRisk(a: Risk, b: Risk): Risk {
  const both = { ...a, depth: Math.max(a.depth, b.depth) };
  for (const kind of SUMS) both[kind] += b[kind];
  return both;
}

/** The risk of one line, given without its line end. */
export function riskOfLine(line: string): Risk {
  let marks = 0;
  let brackets = 0;
  let references = 0;
  let cells = 0;
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at];
    if (character === '*' || character === '_' || character === '~') marks += 1;
    else if (character === '[' || character === ']') brackets += 1;
    else if (character === '&') references += 1;
    else if (character === '|') cells += 1;
  }
  const { depth, marker } = nestingOf(line);
  const markers = marker ? 1 : 0;
  return { length: line.length + 1, lines: 1, marks, brackets, references, cells, markers, depth };
}

/** How deep a line may nest: its own markers, and two columns of indent for each list above it. */
function nestingOf(line: string): { depth: number; marker: boolean } {
  let indent = 0;
  let own = 0;
  let at = 0;
  for (; at < line.length; at += 1) {
    const character = line[at];
    if (character === ' ') indent += own === 0 ? 1 : 0;
    else if (character === '\t') indent += own === 0 ? 4 : 0;
    else {
      const length = markerLength(line, at);
      if (length === 0) break;
      own += 1;
      at += length - 1;
    }
  }
  const underline = own === 0 && line[at] === '=';
  return { depth: own === 0 ? 0 : own + Math.floor(indent / 2), marker: own > 0 || underline };
}

/** Length of the quote or list marker at `at`, 0 if there is none. */
export function markerLength(line: string, at: number): number {
  const character = line[at];
  if (character === '>') return 1;
  let end = at;
  if (character === '-' || character === '*' || character === '+') end += 1;
  else {
    while (end - at < 9 && isDigit(line[end])) end += 1;
    if (end === at || (line[end] !== '.' && line[end] !== ')')) return 0;
    end += 1;
  }
  const after = line[end];
  return after === undefined || after === ' ' || after === '\t' ? end - at : 0;
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9';
}
