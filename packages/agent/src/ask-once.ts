import type { Clock, Meter, Monotonic } from '@parley/core';
import { type ChatModel, OFFLINE_MODEL } from '@parley/models';
import type { TurnUsage } from '@parley/store';
import { askModel } from './loop/model-request.ts';
import { withTimeLimit } from './time.ts';

/** A model outside of any turn, within the caps of spending. */
export interface AskOnceServices {
  readonly model: ChatModel;
  /** Throws where a spend cap is reached (G17). */
  mayAsk(): Promise<void>;
  spent(usage: Omit<TurnUsage, 'model'>): Promise<void>;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly meter: Meter;
}

interface Question {
  readonly system: string;
  readonly user: string;
  /** The longest answer. */
  readonly tokens: number;
  /** How long it may take. */
  readonly ms: number;
}

/** Asks a model one question without tools. Throws ModelError, TimeUpError and the errors of `mayAsk`. */
export async function askOnce(
  { model, clock, monotonic, meter, mayAsk, spent }: AskOnceServices,
  { system, user, tokens, ms }: Question,
  stop: AbortSignal,
): Promise<string> {
  const request = {
    system: [{ text: system, stable: true }],
    messages: [{ role: 'user', content: user }],
    maxOutputTokens: tokens,
  } as const;
  await mayAsk();
  const { text, usage } = await withTimeLimit({ ms, stop }, (signal) =>
    askModel(model, request, { clock, monotonic, meter, onText() {} }, signal),
  );
  await spent(usage);
  // The last of `model.fallback`; its words say nothing about the text.
  if (usage.model === OFFLINE_MODEL) throw new Error('no model answers at the moment');
  return text;
}
