import { listChanges } from '@parley/agent/replay-summary';
import type { InputOf, OutputOf } from '@parley/gateway/operations';

export type ReplayOutcome = OutputOf<'replay/turn'>;
export type ReplayedAnswer = Extract<ReplayOutcome, { kind: 'diverged' }>['before'];
export type ReplayedCall = ReplayedAnswer['calls'][number];
type ReplayChange = Extract<ReplayOutcome, { kind: 'diverged' }>['changes'][number];

/** What a replay changes; empty for the recorded settings. */
export type ReplayChoice = Omit<InputOf<'replay/turn'>, 'turn'>;

/** An outcome in words: what happened, what that means, and what can be done. */
export interface OutcomeWords {
  readonly title: string;
  /** The class that gives the title its color. */
  readonly look: 'is-ready' | 'is-warning' | 'is-unknown' | 'is-failed';
  readonly meaning: string;
  readonly advice: string;
}

export function describeOutcome(outcome: ReplayOutcome, choice: ReplayChoice): OutcomeWords {
  switch (outcome.kind) {
    case 'same':
      return describeSame(outcome.after !== null, choice);
    case 'changed':
      return describeChanged(listDifferences(outcome), outcome.after !== null);
    case 'diverged':
      return {
        title: 'Diverged',
        look: 'is-warning',
        meaning: `The model called ${outcome.call.name} in a way that the recorded turn did not, so no recorded result answers it. The call was not run, and the replay ended there.`,
        advice: choice.liveReads
          ? 'The tool does not only read, so it may not answer. Compare what the model did until then.'
          : 'If the tool only reads, allow such tools to answer and ask again.',
      };
    case 'incomplete':
      return {
        title: 'Cannot be replayed',
        look: 'is-unknown',
        meaning: outcome.hint,
        advice: 'Nothing was guessed, and no model was asked. Choose a newer turn.',
      };
    case 'failed':
      return {
        title: 'No answer',
        look: 'is-failed',
        meaning: outcome.reason,
        advice: `The code is ${outcome.code}. The recorded answer is below.`,
      };
  }
}

function describeSame(wasAsked: boolean, { model, files, profile }: ReplayChoice): OutcomeWords {
  if (wasAsked)
    return {
      title: 'Same',
      look: 'is-ready',
      meaning: 'The request, the text and the calls are those of the record.',
      advice: 'Only the figures below may differ.',
    };
  const isChanged = files !== undefined || profile !== undefined;
  return {
    title: 'Same request',
    look: 'is-ready',
    meaning: isChanged
      ? 'Your change is in no part of this request: it stays the recorded one.'
      : 'The request can be built again exactly as the model received it.',
    advice: isChanged
      ? 'Choose another turn, or change something else.'
      : `${model === undefined ? 'Change something, or ask' : 'Ask'} the model to see what it answers now.`,
  };
}

function describeChanged(different: readonly string[], wasAsked: boolean): OutcomeWords {
  if (wasAsked)
    return {
      title: 'Changed',
      look: 'is-warning',
      meaning: `Different: ${different.join(', ')}.`,
      advice: 'Models rarely write the same text twice, so read both answers before you decide.',
    };
  return {
    title: 'Changed request',
    look: 'is-warning',
    meaning: 'Some parts of the request are different; they are listed below.',
    advice: 'Ask the model to see what it answers then.',
  };
}

const NAMES: Partial<Readonly<Record<ReplayChange['kind'], string>>> = {
  request: 'request',
  text: 'text',
  calls: 'calls',
  order: 'order of calls',
};

/** The differences that people notice; tokens, money and latency are only figures. */
function listDifferences(outcome: ReplayOutcome): readonly string[] {
  return [...new Set(listChanges(outcome).flatMap(({ kind }) => NAMES[kind] ?? []))];
}

/** The most important fact of an outcome, for one row of a table. */
export function summarizeOutcome(outcome: ReplayOutcome): string {
  switch (outcome.kind) {
    case 'diverged':
      return `called ${outcome.call.name}`;
    case 'incomplete':
      return MISSING[outcome.missing];
    case 'failed':
      return outcome.code;
    default:
      return listDifferences(outcome).join(', ');
  }
}

const MISSING: Readonly<Record<Extract<ReplayOutcome, { kind: 'incomplete' }>['missing'], string>> =
  {
    record: 'no prompt is kept',
    messages: 'messages are gone',
    files: 'a file is gone',
    forgotten: 'text was forgotten',
    history: 'another history',
    settings: 'other settings',
  };

/** Marks as many of equal calls as the other side lacks, the last ones first. */
export function markOwnCalls(calls: readonly ReplayedCall[], own: readonly ReplayedCall[]) {
  const left = [...own];
  const marked = calls.toReversed().map((call) => {
    const at = left.findIndex((one) => isSameCall(one, call));
    if (at !== -1) left.splice(at, 1);
    return { call, isOwn: at !== -1 };
  });
  return marked.toReversed();
}

export function isSameCall(one: ReplayedCall, other: ReplayedCall): boolean {
  return one.name === other.name && one.arguments === other.arguments;
}
