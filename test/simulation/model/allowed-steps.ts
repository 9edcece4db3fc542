import type { TraceStep } from '../changes.ts';
import { type AppliedChange, applyStep, getRowValues, WORLD } from './apply-step.ts';
import { checkConversations, checkLane, checkMessage, checkTurn } from './lane-rules.ts';
import { createViolation, type StepMoment, type TraceOptions } from './moment.ts';
import { checkChats, checkPart, checkSent } from './outbox-rules.ts';
import { RULES, type RuleViolation } from './rules.ts';
import { createEmptyTables, type TracedTables } from './traced-tables.ts';

/**
 * Returns descriptions of what the model does not allow in a trace, each with the number of the
 * rule.
 */
export function checkTrace(
  steps: readonly TraceStep[],
  options: TraceOptions = {},
): readonly string[] {
  const check = createTraceChecker(options);
  return steps.flatMap((step) => check(step));
}

/** Checks the steps of one trace as they happen. */
export function createTraceChecker(
  options: TraceOptions = {},
): (step: TraceStep) => readonly string[] {
  const tables = createEmptyTables();
  return (step) =>
    checkStep(tables, step, options).map((violation) => formatViolation(step, violation));
}

function formatViolation({ at, process }: TraceStep, { rule, what }: RuleViolation): string {
  return `rule ${rule} (${RULES[rule]}), at ${at.toFixed(0)} ms in ${process}: ${what}`;
}

function checkStep(
  tables: TracedTables,
  step: TraceStep,
  options: TraceOptions,
): readonly RuleViolation[] {
  const applied = applyStep(tables, step);
  const turns = applied.flatMap((one) => (one.kind === 'turn' ? [one] : []));
  const moment: StepMoment = {
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

function checkChange(moment: StepMoment, one: AppliedChange): readonly RuleViolation[] {
  if (one.kind === 'sent') return checkSent(moment, one.change, one.before);
  if (moment.process === WORLD) return checkPowerCut(moment, one);
  switch (one.kind) {
    case 'accepted':
      return one.before === undefined
        ? []
        : [createViolation(0, `message ${one.change.message} was stored before`)];
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

function isPowerCut({ process, applied }: StepMoment): boolean {
  return process === WORLD && applied.some(({ kind }) => kind !== 'sent');
}

const RULE_OF_ROW = { message: 5, turn: 6, part: 9, lane: 2 } as const;

/** A power cut restores a value that the row has had since the last sync. */
function checkPowerCut({ tables }: StepMoment, one: AppliedChange): readonly RuleViolation[] {
  const value = getRowValues(one);
  if (value === null || !(one.kind in RULE_OF_ROW)) {
    return [createViolation(0, `a power cut cannot create a row (${one.kind})`)];
  }
  const { row, before, after } = value;
  if (tables.sinceSync.get(row)?.includes(after)) return [];
  const rule = RULE_OF_ROW[one.kind as keyof typeof RULE_OF_ROW];
  return [
    createViolation(
      rule,
      `a power cut undid a synced change: ${row} went from "${before}" to "${after}"`,
    ),
  ];
}
