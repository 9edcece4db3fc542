import type { Simulation } from '../simulation.ts';
import { listMarks } from './effects.ts';
import type { MakeInvariant } from './invariant.ts';
import { createJournalReader } from './journal.ts';

interface ApprovalRow {
  readonly code: string;
  readonly key: string;
  readonly turn: string;
  readonly state: string;
  readonly by: string | null;
  readonly askedIn: string;
}

const OWNER = '1';

/** The approval code in a bot message; undefined when the message does not ask for approval. */
export function findApprovalCode(text: string): string | undefined {
  return /Reply `?\/approve (\w+)/.exec(text)?.[1];
}

/** A call that needs approval runs only after an owner has approved it, and then once (G05). */
export const approvedFirst: MakeInvariant = () => {
  const read = createJournalReader();
  /** The approval code that people saw for each call, by the mark of the call. */
  const codes = new Map<string, string>();
  const asking = new Set<string>();
  const ended = new Set<string>();
  return {
    id: 'G05',
    afterStep: ({ changes }, simulation) => {
      for (const change of changes) {
        if (change.kind !== 'sent') continue;
        const text = simulation.shownPart(change.part)?.text ?? '';
        const code = findApprovalCode(text);
        if (code === undefined) continue;
        for (const mark of text.match(/\bm\d+-\d+-\d+\b/g) ?? []) codes.set(mark, code);
      }
      return [];
    },
    afterChange: (simulation) => {
      const approvals = readApprovals(simulation);
      const wrong: string[] = [];
      for (const { kind, call, calls } of read(simulation)) {
        for (const { key, name } of calls) {
          if (name === 'edit' || name === 'write_todos') asking.add(key);
        }
        if (kind === 'result' && call !== undefined) ended.add(call);
        if (kind !== 'started' || call === undefined || !asking.has(call)) continue;
        const state = approvals.find(({ key }) => key === call)?.state;
        if (state !== 'approved') wrong.push(`${call} was begun while its approval was ${state}`);
      }
      const strangers = approvals
        .filter(({ state, by }) => state === 'approved' && by !== `keyed:${OWNER}`)
        .map(({ code, by }) => `${code} was approved by ${by}`);
      return [...wrong, ...strangers, ...findUnapprovedMarks(simulation, codes)];
    },
    atEnd: (simulation) => {
      const { turns } = simulation.observer.tables;
      return readApprovals(simulation)
        .filter(({ key, turn }) => turns.get(turn)?.state === 'answered' && !ended.has(key))
        .map(({ code, key, state }) => `the call ${key} (${code}, ${state}) has no result`);
    },
  };
};

function readApprovals({ observer }: Simulation): readonly ApprovalRow[] {
  return observer.rows<ApprovalRow>(
    `select code, call_key as key, turn_id as turn, state, decided_by as by, asked_in as askedIn
     from approval`,
  );
}

/** Observed from outside: a mark exists although no owner approved the call. */
function findUnapprovedMarks(simulation: Simulation, codes: ReadonlyMap<string, string>): string[] {
  const lists = simulation.observer.rows<{ readonly content: string }>(
    'select content from todo_list',
  );
  const listed = lists.flatMap(({ content }) => content.match(/\bm\d+-\d+-\d+\b/g) ?? []);
  return [...listMarks(simulation), ...listed].flatMap((mark) => {
    const code = codes.get(mark);
    if (code === undefined) return [`${mark} is done, and nobody was asked`];
    const isAllowed = simulation.said.some(
      ({ by, text }) => by === OWNER && (text === `/approve ${code}` || text === 'yes'),
    );
    return isAllowed ? [] : [`${mark} is done, and no owner has approved ${code}`];
  });
}
