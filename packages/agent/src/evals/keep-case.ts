import { detectLanguageName, ParleyError } from '@parley/core';
import { getVisibleAnswer } from '../answer/visible-text.ts';
import type { OpenedReplay } from '../replay/replay.ts';
import type { AnswerCheck, EvalCase } from './eval-case.ts';
import { isDataLayer, outlinePrompt } from './prompt-outline.ts';

/**
 * Makes a case of a recorded turn: its messages, history, results and answers, the outline of its
 * request, and a few checks as a start. Throws ParleyError for a turn that cannot be a case.
 */
export function createCase(
  { record, rebuilt }: OpenedReplay,
  limits: Readonly<Record<string, number>>,
): EvalCase {
  const { turn, rounds, before, about } = record;
  if (turn.purpose.kind !== 'chat') throw createRefusal('it answered no person');
  if (turn.messages.some(({ message }) => message.attachments !== undefined))
    throw createRefusal('its files are kept for a day only, so the case could not be run later');
  if (rounds.some(({ joined }) => joined.length > 0))
    throw createRefusal('messages joined it while it ran, which a case cannot describe');
  const { prompt, summary, transcript } = rebuilt.draft;
  const given = turn.messages.flatMap(({ message }) => message.client?.history ?? []).length;
  const steps = rounds.map(({ step: { text, calls } }) => ({
    text,
    calls: calls.map(({ name, arguments: written }) => ({ name, arguments: written })),
  }));
  return {
    title: about.question.split('\n')[0]?.slice(0, 80) ?? '',
    at: new Date(about.at).toISOString(),
    owner: turn.reader.kind === 'owner',
    messages: turn.messages.map(({ conversationId, message, route, receivedAt, fromOwner }) => ({
      ...{ conversationId, message, route, receivedAt },
      ...(fromOwner !== undefined && { fromOwner }),
    })),
    history: transcript.slice(given).map(({ role, content }) => ({ role, content })),
    summary: summary?.text ?? null,
    context: [...prompt.system, ...prompt.userContext].flatMap(({ layer, audience, text }) =>
      isDataLayer(layer) ? [{ layer, audience, text }] : [],
    ),
    results: rounds.flatMap(({ calls }) =>
      calls.flatMap(({ call, result }) =>
        result === null
          ? []
          : [
              {
                ...{ name: call.name, arguments: call.arguments },
                ...{ result: result.text, failed: result.failed },
              },
            ],
      ),
    ),
    answers: [...steps, { text: before.text, calls: [] }],
    prompt: outlinePrompt({ prompt, tools: rebuilt.request.tools ?? [], limits }),
    checks: createFirstChecks(record),
  };
}

function createRefusal(why: string): ParleyError {
  return new ParleyError({
    code: 'eval-not-kept',
    message: `This turn cannot be kept as a case: ${why}. Write a case by hand, as docs/evals.md shows.`,
    retryable: false,
  });
}

/** Checks that hold for the recorded answer; a person adds what the answer must say. */
function createFirstChecks({ before }: OpenedReplay['record']): AnswerCheck[] {
  const visible = getVisibleAnswer(before.text, { known: new Set() });
  const tools = before.calls.map(({ name }) => name);
  if (visible.kind === 'silent') return [{ silent: true }];
  const language = detectLanguageName([visible.text]);
  return [
    ...(tools.length > 0 ? [{ order: tools }] : []),
    ...(language === undefined ? [] : [{ language }]),
    { length: { min: 1, max: Math.max(400, visible.text.length * 3) } },
  ];
}
