import type { StepFacts, TimelineEntry } from '@parley/contracts';
import { shortDuration } from '@parley/contracts/short-duration';
import type { Approval } from '../approvals.ts';
import type { TimedStep, TurnFacts } from './message-facts.ts';
import { counted, entry, lasting } from './words.ts';

/** From the beginning of a turn to its commit. */
export function turnEntries(turn: TurnFacts): readonly TimelineEntry[] {
  return [
    ...runEntries(turn),
    ...promptEntries(turn),
    ...turn.steps.map(stepEntry),
    ...turn.approvals.flatMap(approvalEntries),
    ...endEntries(turn),
  ];
}

function runEntries({ runs, startedAt, attempts }: TurnFacts): readonly TimelineEntry[] {
  if (runs.length === 0) {
    const again = attempts > 1 ? `, ${attempts} times in all` : '';
    return [entry('turn', startedAt, `begun${again}`)];
  }
  return runs.map(({ at, worker }, nth) => ({
    ...entry('turn', at, nth === 0 ? 'begun' : 'gone on with by another run'),
    ...(worker !== null && { detail: worker }),
  }));
}

function promptEntries({ prompt, turnId }: TurnFacts): readonly TimelineEntry[] {
  if (prompt === null) return [];
  const { at, layout, layers, characters, tokens } = prompt;
  const size = `${counted(layers, 'layer')}, ${characters} characters, about ${tokens} tokens`;
  return [
    {
      ...entry('prompt', at, `${size}, layout ${layout}`),
      detail: `parley prompt --turn ${turnId}`,
    },
  ];
}

function stepEntry({ startedAt, endedAt, facts }: TimedStep): TimelineEntry {
  const base = lasting(
    facts.kind,
    startedAt ?? endedAt,
    startedAt === null ? null : endedAt,
    stepWords(facts),
  );
  if (facts.kind === 'model') return { ...base, detail: modelDetail(facts) };
  return facts.outcome === 'done' ? base : { ...base, mark: 'trouble' };
}

function stepWords(facts: StepFacts): string {
  if (facts.kind === 'tool') {
    const outcome = facts.outcome === 'not-run' ? 'not run' : facts.outcome;
    return `${facts.tool}: ${outcome}`;
  }
  const { inputTokens, outputTokens, firstTokenMs, calls } = facts;
  return [
    `asked: ${inputTokens} tokens in, ${outputTokens} out`,
    ...(firstTokenMs === undefined ? [] : [`first words after ${shortDuration(firstTokenMs)}`]),
    ...(calls.length === 0 ? [] : [`wants ${calls.join(', ')}`]),
  ].join('; ');
}

/** Which model answers is the owner's business. */
function modelDetail({ model, insteadOf, asked }: Extract<StepFacts, { kind: 'model' }>): string {
  const instead = insteadOf === undefined ? '' : ` instead of ${insteadOf}`;
  const again = asked === undefined ? '' : `, asked ${asked} times`;
  return `${model}${instead}${again}`;
}

const DECISIONS: Readonly<Record<Approval['state'], string>> = {
  pending: 'waits for a yes',
  approved: 'allowed',
  denied: 'refused',
  expired: 'nobody answered',
  withdrawn: 'stopped',
  auto: 'allowed by the settings',
};

function approvalEntries({
  state,
  tool,
  code,
  askedAt,
  decidedAt,
  decidedBy,
}: Approval): TimelineEntry[] {
  if (state === 'auto') return [entry('approval', askedAt, `${tool}: ${DECISIONS.auto}`)];
  const words = `${tool} (${code}): ${DECISIONS[state]}`;
  return [
    {
      ...lasting('approval', askedAt, decidedAt, words),
      ...(decidedBy !== null && { detail: `by ${decidedBy}` }),
      ...(state === 'pending' && { mark: 'open' as const }),
    },
  ];
}

/** How it ended, or that it has not. */
function endEntries({ state, startedAt, finishedAt, reason }: TurnFacts): readonly TimelineEntry[] {
  const detail = reason === null ? {} : { detail: reason };
  const took = (words: string) => ({ ...entry('commit', finishedAt, words), ...detail });
  const whole =
    finishedAt === null ? '' : `, ${shortDuration(finishedAt - startedAt)} after it was begun`;
  switch (state) {
    case 'running':
      return [];
    case 'answered':
      return [took(`answered${whole}`)];
    case 'silent':
      return [took(`the agent chose to say nothing${whole}`)];
    case 'failed':
      return [{ ...took(`failed${whole}`), mark: 'trouble' }];
    case 'stopped':
      return [took(`stopped by /stop${whole}`)];
    default:
      return [took(`ended by a later message${whole}`)];
  }
}
