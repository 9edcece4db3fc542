import type { VNode } from 'preact';

/** A diff by lines, as `soulDiff` makes it, in colors. */
export function diffLines(diff: string): readonly VNode[] {
  if (diff === '') return [<span key="none">Nothing changes.</span>];
  return diff.split('\n').map((line, index) => {
    const Kind = line.startsWith('+') ? 'ins' : line.startsWith('-') ? 'del' : 'span';
    return <Kind key={index}>{`${line}\n`}</Kind>;
  });
}
