import type { Step } from '../changes.ts';
import { type Applied, applyStep, rowValues, WORLD } from './apply-step.ts';
import { checkConversations, checkLane, checkMessage, checkTurn } from './lane-rules.ts';
import { broken, type Moment, type TraceOptions } from './moment.ts';
import { checkChats, checkPart, checkSent } from './outbox-rules.ts';
import { RULES, type Violation } from './rules.ts';
import { emptyTables, type TracedTables } from './traced-tables.ts';

/**
 * Returns descriptions of what the model does not allow in a trace, each with the number of the
 * rule.
 */
export function checkTrace(steps: readonly Step[], options: TraceOptions = {}): readonly string[] {
  const check = createTraceChecker(options);
  return steps.flatMap((step) => check(step));
}

/** Checks the steps of one trace as they happen. */
export function createTraceChecker(options: TraceOptions = {}): (step: Step) => readonly string[] {
  const tables = emptyTables();
  return (step) => checkStep(tables, step, options).map((violation) => sentence(step, violation));
}

function sentence({ at, process }: Step, { rule, what }: Violation): string {
  return `rule ${rule} (${RULES[rule]}), at ${at.toFixed(0)} ms in ${process}: ${what}`;
}

function checkStep(tables: TracedTables, step: Step, options: TraceOptions): readonly Violation[] {
  const applied = applyStep(tables, step);
  const turns = applied.flatMap((one) => (one.kind === 'turn' ? [one] : []));
  const moment: Moment = {
    ...{ tables, applied, options, process: step.process },
    began: new Set(
      turns.filter(({ change }) => change.from === null).map(({ change }) => change.turn),
    ),
    restarted: new Set(
      turns
        .filter(
          ({ change, before }) =>
            change.from === 'running' && change.attempts > (before?.attempts ?? 0),
        )
        .map(({ change }) => change.turn),
    ),
    letters: new Set(applied.flatMap((one) => (one.kind === 'dead-letter' ? [one.change.of] : []))),
  };
  const found = applied.flatMap((one) => checkChange(moment, one));
  if (isPowerCut(moment)) tables.sinceSync.clear();
  return [...found, ...checkConversations(moment), ...checkChats(moment)];
}

function checkChange(moment: Moment, one: Applied): readonly Violation[] {
  if (one.kind === 'sent') return checkSent(moment, one.change, one.before);
  if (moment.process === WORLD) return checkPowerCut(moment, one);
  switch (one.kind) {
    case 'accepted':
      return one.before === undefined
        ? []
        : [broken(0, `message ${one.change.message} was stored before`)];
    case 'message':
      return checkMessage(moment, one);
    case 'lane':
      return checkLane(one);
    case 'turn':
      return checkTurn(moment, one);
    case 'part':
      return checkPart(moment, one);
    case 'dead-letter':
      return [];
  }
}

function isPowerCut({ process, applied }: Moment): boolean {
  return process === WORLD && applied.some(({ kind }) => kind !== 'sent');
}

const RULE_OF_ROW = { message: 5, turn: 6, part: 9, lane: 2 } as const;

/** A power cut restores a value that the row has had since the last sync. */
function checkPowerCut({ tables }: Moment, one: Applied): readonly Violation[] {
  const value = rowValues(one);
  if (value === null || !(one.kind in RULE_OF_ROW)) {
    return [broken(0, `a power cut cannot create a row (${one.kind})`)];
  }
  const { row, before, after } = value;
  if (tables.sinceSync.get(row)?.includes(after)) return [];
  const rule = RULE_OF_ROW[one.kind as keyof typeof RULE_OF_ROW];
  return [
    broken(rule, `a power cut undid a synced change: ${row} went from "${before}" to "${after}"`),
  ];
}
