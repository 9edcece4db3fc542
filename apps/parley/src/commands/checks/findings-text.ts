import { formatTable } from '../../terminal/text.ts';

/** A finding as displayed in the terminal. */
interface FindingLine {
  readonly level: string;
  readonly name: string;
  readonly found: string;
  readonly advice?: string | undefined;
}

/**
 * Formats each finding on one line with its advice below, followed by the summary. Consecutive
 * findings from the same check share their advice.
 */
export function formatFindings(lines: readonly FindingLine[], summary: string): string {
  const rows = lines.flatMap((line, at) => [
    [...(isSameFinding(line, lines[at - 1]) ? ['', ''] : [line.level, line.name]), line.found],
    ...(line.advice === undefined || isSameFinding(line, lines[at + 1])
      ? []
      : [['', '', `→ ${line.advice}`]]),
  ]);
  return rows.length === 0 ? summary : `${formatTable(rows)}\n\n${summary}`;
}

function isSameFinding(
  { level, name, advice }: FindingLine,
  other: FindingLine | undefined,
): boolean {
  const isShared = advice !== undefined && advice === other?.advice;
  return isShared && level === other?.level && name === other.name;
}
