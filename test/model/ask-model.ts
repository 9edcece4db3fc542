import { silentLogger, systemTime } from '@parley/core';
import { type ChatModel, createChatModel, type ModelEvent, ModelSettings } from '@parley/models';
import type { ModelDouble } from './model-double.ts';

/** A `ChatModel` created from settings, without logging. */
export function createModel(settings: unknown, localServers: readonly string[] = []) {
  return createChatModel(ModelSettings.parse(settings), {
    settingsFile: 'settings.yaml',
    clock: Date.now,
    monotonic: systemTime.monotonic,
    logger: silentLogger,
    localServers,
  });
}

/** Provider settings that point to a test double. */
export function createProviderSettings(double: ModelDouble, more: object = {}) {
  return { provider: 'openai-compatible', baseUrl: double.baseUrl, model: 'double', ...more };
}

/** Asks a question and collects the events. */
export async function askModel(
  model: ChatModel,
  question = 'hello',
  signal: AbortSignal = new AbortController().signal,
  events: ModelEvent[] = [],
): Promise<ModelEvent[]> {
  const system = [
    { text: 'You are a test.', stable: true },
    { text: 'It is noon.', stable: false },
  ];
  const messages = [{ role: 'user', content: question } as const];
  for await (const event of model.stream({ system, messages }, signal)) events.push(event);
  return events;
}

/** The text of the answer. */
export function joinAnswerText(events: readonly ModelEvent[]): string | undefined {
  const last = events.at(-1);
  return last?.type === 'finish' ? last.text : undefined;
}
