import { tableText } from '../../terminal/text.ts';

/** A finding as displayed in the terminal. */
interface Line {
  readonly level: string;
  /** The name of the check. */
  readonly name: string;
  readonly found: string;
  readonly advice?: string | undefined;
}

/**
 * One line for each finding with its advice below. Successive findings of a check with the same
 * advice share it. The summary follows.
 */
export function findingsText(lines: readonly Line[], summary: string): string {
  const rows = lines.flatMap((line, at) => [
    [...(isSame(line, lines[at - 1]) ? ['', ''] : [line.level, line.name]), line.found],
    ...(line.advice === undefined || isSame(line, lines[at + 1])
      ? []
      : [['', '', `→ ${line.advice}`]]),
  ]);
  return rows.length === 0 ? summary : `${tableText(rows)}\n\n${summary}`;
}

function isSame({ level, name, advice }: Line, other: Line | undefined): boolean {
  const isShared = advice !== undefined && advice === other?.advice;
  return isShared && level === other?.level && name === other.name;
}
