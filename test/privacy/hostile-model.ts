import type { ChatModel, ModelEvent, ModelRequest, ModelTool } from '@parley/models';
import type { Chance } from './chance.ts';

/** Ends a run of a turn in the middle, as the death of its process would. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

/** A model that tries everything: whatever tools it is given, it calls them with what must not work. */
export interface HostileModel extends ChatModel {
  /** What it was asked since this was last called. */
  takeAsked(): readonly ModelRequest[];
  readonly calls: { made: number };
}

interface HostileModelOptions {
  readonly chance: Chance;
  readonly pathOf: () => string;
  /** What it says of a request: it repeats what it was shown. */
  readonly echo: (request: ModelRequest) => string;
}

/** Most steps of one turn in which it calls tools. */
const MAX_STEPS = 3;

/** Makes one. */
export function hostileModel({ chance, pathOf, echo }: HostileModelOptions): HostileModel {
  const id = 'test/hostile';
  const calls = { made: 0 };
  let asked: ModelRequest[] = [];
  return {
    id,
    calls,
    takeAsked() {
      const taken = asked;
      asked = [];
      return taken;
    },
    async *stream(request): AsyncGenerator<ModelEvent> {
      asked.push(request);
      if (chance.happens(0.02)) throw new Crash('the process died');
      const { tools = [] } = request;
      const again = request.messages.filter(({ role }) => role === 'tool').length < MAX_STEPS;
      const wants = tools.length > 0 && again && chance.happens(0.6) ? 1 + chance.below(2) : 0;
      for (let call = 0; call < wants; call += 1) {
        const tool = chance.pick(tools);
        calls.made += 1;
        const callId = `call-${calls.made}`;
        const words = JSON.stringify(argumentsFor(tool, pathOf, chance));
        yield { type: 'tool-call', call: { id: callId, name: tool.name, arguments: words } };
      }
      const text = wants === 0 ? echo(request) : '';
      if (text !== '') yield { type: 'text', text };
      const usage = { inputTokens: 9, outputTokens: 1, cachedInputTokens: 0, estimated: false };
      const finishReason = wants === 0 ? 'stop' : 'tool-calls';
      yield { type: 'finish', text, usage, finishReason, model: id, costUsd: null };
    },
  };
}

/** A path wherever the tool takes a text, now and then something else that fits its schema. */
function argumentsFor({ inputSchema }: ModelTool, pathOf: () => string, chance: Chance): object {
  const { properties } = inputSchema;
  const known = typeof properties === 'object' && properties !== null ? properties : {};
  const wanted = Object.entries(known).filter(() => chance.happens(0.9));
  return Object.fromEntries(
    wanted.map(([name, schema]) => [name, valueFor(name, JSON.stringify(schema), pathOf, chance)]),
  );
}

function valueFor(name: string, schema: string, pathOf: () => string, chance: Chance): unknown {
  if (schema.includes('"boolean"')) return chance.happens(0.5);
  if (/"(integer|number)"/.test(schema)) return chance.below(50);
  if (schema.includes('"array"')) return [pathOf()];
  if (/pattern|query|regex|search/.test(name)) return chance.pick(['canary', '.', 'owner', '^']);
  return pathOf();
}
