import { listOpenGroups } from '../tools/open-tools.ts';
import { listGroupTools, type ToolSet } from '../tools/tool-set.ts';
import type { TurnJournal, TurnRound } from './turn-journal.ts';

/** The tool groups that are open in a turn. */
export interface OpenGroups {
  readonly open: readonly string[];
  /** The groups that the session has stored. */
  readonly stored: readonly string[];
}

interface GroupOpening {
  readonly tools: ToolSet;
  readonly run: { readonly journal: Pick<TurnJournal, 'append'> };
  readonly keepGroups?: ((groups: readonly string[]) => Promise<void>) | undefined;
}

/**
 * Opens the groups that the calls so far have asked for, before a request shows their tools: the
 * journal keeps their definitions, and the session keeps them open. Returns null if the lease was
 * lost.
 */
export async function openCalledGroups(
  { tools, run, keepGroups }: GroupOpening,
  rounds: readonly TurnRound[],
  before: OpenGroups,
): Promise<OpenGroups | null> {
  const open = listOpenGroups(before.open, rounds, tools);
  const added = open.filter((group) => !before.open.includes(group));
  if (added.length > 0) {
    const step = { kind: 'opened', tools: listGroupTools(tools, added) } as const;
    if (!(await run.journal.append(step))) return null;
  }
  if (open.some((group) => !before.stored.includes(group))) await keepGroups?.(open);
  return { open, stored: open };
}
