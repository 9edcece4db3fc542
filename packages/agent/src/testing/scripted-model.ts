import { setTimeout as sleep } from 'node:timers/promises';
import { type ChatModel, ModelError, type ModelFailure, type ModelRequest } from '@parley/models';

export type Script =
  | {
      readonly say?: string;
      readonly afterMs?: number;
      /** Tools it calls, with their arguments as an object, or as text that may be no JSON. */
      readonly calls?: readonly { readonly name: string; readonly with: object | string }[];
    }
  | { readonly fail: ModelFailure }
  | { readonly throws: Error };

export interface ScriptedModel extends ChatModel {
  readonly asked: ModelRequest[];
  /** The next requests are met so, one each; then the model says `fine`. */
  next(...scripts: readonly Script[]): void;
}

export function scriptedModel(): ScriptedModel {
  const id = 'test/model';
  const asked: ModelRequest[] = [];
  const scripts: Script[] = [];
  const aborted = () => new ModelError({ kind: 'aborted' }, id, 'The call was stopped on request.');
  return {
    id,
    asked,
    next: (...more) => void scripts.push(...more),
    async *stream(request, signal) {
      asked.push(request);
      const script = scripts.shift() ?? { say: 'fine' };
      if ('throws' in script) throw script.throws;
      if ('fail' in script) throw new ModelError(script.fail, id, `${id} at secret-host failed.`);
      await sleep(script.afterMs ?? 0, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) throw aborted();
      const { say: text = '', calls = [] } = script;
      for (const piece of text.split(/(?<= )/))
        if (piece !== '') yield { type: 'text', text: piece };
      for (const { name, with: given } of calls) {
        const written = typeof given === 'string' ? given : JSON.stringify(given);
        // Like some servers, it gives each of its calls the same id.
        yield { type: 'tool-call', call: { id: 'call', name, arguments: written } };
      }
      const usage = { inputTokens: 10, outputTokens: 2, cachedInputTokens: 4, estimated: false };
      const finishReason = calls.length === 0 ? 'stop' : 'tool-calls';
      yield { type: 'finish', text, usage, finishReason, model: id, costUsd: 0.5 };
    },
  };
}

export function toolMessages(request: ModelRequest | undefined) {
  return (request?.messages ?? []).filter((message) => message.role === 'tool');
}
