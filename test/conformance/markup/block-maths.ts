const FENCE = '~~~~~~~~';
/** Quote marks, list markers and names of notes, then an opening; what follows it on the line. */
const OPENING =
  /^((?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])|\[\^[^\]\s]+\]:))*[ \t]*)(\$\$|\\\[)(.*)$/;

interface OpenBlock {
  readonly closing: string;
  /** What lines of the block begin with: quote marks, and spaces for list markers. */
  readonly prefix: string;
  /** Quote marks and list markers with their space. */
  readonly within: readonly string[];
  readonly untilEmptyLine: boolean;
}

/**
 * The same document with every chosen block of maths, `$$ … $$` or `\[ … \]`, as a block of LaTeX
 * code.
 * @param choose whether the next line that could open such a block does.
 */
export function blockMaths(markdown: string, choose: () => boolean): string {
  const out: string[] = [];
  let open: OpenBlock | undefined;
  for (const line of markdown.split('\n')) {
    if (open !== undefined && hasLeft(line, open, choose)) open = undefined;
    if (open !== undefined) {
      const rest = line.trimEnd();
      if (rest.endsWith(open.closing)) {
        out.push(rest.slice(0, -open.closing.length), open.prefix + FENCE);
        open = undefined;
      } else if (open.untilEmptyLine && /^[> \t]*$/.test(line)) {
        out.push(open.prefix + FENCE, line);
        open = undefined;
      } else out.push(line);
      continue;
    }
    const [, before = '', opening, content = ''] = OPENING.exec(line) ?? [];
    if (opening === undefined || !choose()) {
      out.push(line);
      continue;
    }
    open = begin(before, opening === '$$' ? '$$' : '\\]', content.trim(), out);
  }
  return out.join('\n');
}

/**
 * Whether the line stands outside of what the block stands in. A list item that does not begin on
 * the block's own line is not known: then less indent is a matter of choice.
 */
function hasLeft(line: string, { within, prefix }: OpenBlock, choose: () => boolean): boolean {
  if (!continues(line, within)) return true;
  const isKnown = within.length > 0 || prefix.length < 2 || line.trim() === '';
  return !isKnown && !line.startsWith(prefix) && choose();
}

/** Whether the line still stands in the quotes and list items that the block stands in. */
function continues(line: string, within: readonly string[]): boolean {
  let rest = line;
  for (const container of within) {
    if (container === '>') {
      if (!/^[ \t]*>/.test(rest)) return false;
      rest = rest.slice(rest.indexOf('>') + 1).replace(/^ /, '');
    } else {
      // A note goes on four spaces in, however long its name is.
      const indent = container.startsWith('[^') ? 4 : container.length;
      if (rest.trim() !== '' && !rest.startsWith(' '.repeat(indent))) return false;
      rest = rest.slice(indent);
    }
  }
  return true;
}

function begin(
  before: string,
  closing: string,
  content: string,
  out: string[],
): OpenBlock | undefined {
  const prefix = before.replaceAll(/[^>\t]/g, ' ');
  out.push(`${before}${FENCE}latex`);
  if (content.endsWith(closing)) {
    out.push(prefix + content.slice(0, -closing.length), prefix + FENCE);
    return undefined;
  }
  if (content !== '') out.push(prefix + content);
  const within = before.match(/>|(?:[-*+]|\d{1,9}[.)])[ \t]*|\[\^[^\]]+\]:/g) ?? [];
  return { closing, prefix, within, untilEmptyLine: content !== '' };
}
