/** A line of HEARTBEAT.md that is not in a comment; `number` counts from 1 in the whole file. */
export interface FileLine {
  readonly number: number;
  readonly text: string;
  /** In a code fence, or the fence itself: such a line is never a key or a heading. */
  readonly fenced: boolean;
}

/** What stands under one `## name`. */
export interface TaskSection {
  readonly name: string;
  readonly line: number;
  readonly lines: readonly FileLine[];
}

/** The file in parts: what stands before the first `##`, and each section. */
export interface Sections {
  readonly lead: readonly FileLine[];
  readonly sections: readonly TaskSection[];
}

/** Cuts the file at its headings of the second level. Comments are taken out, lines keep their numbers. */
export function taskSections(text: string): Sections {
  const lead: FileLine[] = [];
  const sections: { name: string; line: number; lines: FileLine[] }[] = [];
  for (const line of fileLines(text)) {
    const name = line.fenced ? null : headingOf(line.text);
    if (name !== null) sections.push({ name, line: line.number, lines: [] });
    else (sections.at(-1)?.lines ?? lead).push(line);
  }
  return { lead, sections };
}

/** The text of a heading of the second level without marks round it, or null. */
function headingOf(line: string): string | null {
  const found = /^ {0,3}##[ \t]+(.*?)[ \t#]*$/.exec(line);
  return found === null ? null : (found[1] ?? '').replace(/^[*_`]+|[*_`:]+$/g, '').trim();
}

function fileLines(text: string): FileLine[] {
  const plain = withoutComments(text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n'));
  let fence = '';
  return plain.split('\n').map((line, index) => {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    const fenced = fence !== '' || mark !== '';
    if (fence === '') fence = mark;
    else if (mark !== '' && mark.startsWith(fence) && line.trim() === mark) fence = '';
    return { number: index + 1, text: line, fenced };
  });
}

/** Line ends of comments stay, so that lines keep their numbers. A comment that is never closed is text. */
function withoutComments(text: string): string {
  let rest = text;
  let kept = '';
  for (;;) {
    const start = rest.indexOf('<!--');
    const end = start === -1 ? -1 : rest.indexOf('-->', start + 4);
    if (end === -1) return kept + rest;
    kept += rest.slice(0, start) + rest.slice(start, end).replace(/[^\n]+/g, '');
    rest = rest.slice(end + 3);
  }
}
