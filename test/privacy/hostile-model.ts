import type { ChatModel, ModelEvent, ModelRequest, ModelTool } from '@parley/models';
import { z } from 'zod';
import type { RandomChance } from './chance.ts';

/** Ends a run of a turn midway, as the death of its process would. */
export class SimulatedCrash extends Error {
  override readonly name = 'Crash';
}

/** A model that tries everything: it calls any tool it is offered in ways that must not succeed. */
export interface HostileModel extends ChatModel {
  /** The requests since the last call. */
  takeAsked(): readonly ModelRequest[];
  readonly calls: { made: number };
}

interface HostileModelOptions {
  readonly chance: RandomChance;
  readonly pathOf: () => string;
  /** Names to try when a tool takes a name. */
  readonly names: () => readonly string[];
  /** Search terms for memories. */
  readonly query: () => string;
  /** Something in a request, to be quoted or written down. */
  readonly shown: (request: ModelRequest) => string | undefined;
  /** Something private in a request, to be written where other people may read it. */
  readonly secret: (request: ModelRequest) => string | undefined;
  /** The model's answer to a request, which repeats what the model was shown. */
  readonly echo: (request: ModelRequest) => string;
}

/** The model answers after this many calls in one turn. */
const MAX_CALLS = 3;

export function createHostileModel({ chance, echo, ...tries }: HostileModelOptions): HostileModel {
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
      const { tools = [] } = request;
      const results = request.messages.filter(({ role }) => role === 'tool').length;
      if (chance.happens(results === 0 ? 0.02 : 0.1)) throw new SimulatedCrash('the process died');
      const again = results < MAX_CALLS;
      const wants = tools.length > 0 && again && chance.happens(0.4) ? 1 + chance.below(2) : 0;
      for (let call = 0; call < wants; call += 1) {
        const tool = pickTool(tools, chance);
        calls.made += 1;
        const callId = `call-${calls.made}`;
        const words = JSON.stringify(createArguments(tool, { ...tries, chance, request }));
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

/** Listing and searching read the whole workspace, and would take most of the time. */
function pickTool(tools: readonly ModelTool[], chance: RandomChance): ModelTool {
  const often = ['read', 'read', 'write', 'write', 'search_memory', undefined][chance.below(6)];
  return tools.find(({ name }) => name === often) ?? chance.pick(tools);
}

type AttemptOptions = Omit<HostileModelOptions, 'echo'> & { readonly request: ModelRequest };

/** A path wherever the tool takes a string; occasionally another value that fits its schema. */
function createArguments({ name: tool, inputSchema }: ModelTool, tries: AttemptOptions): object {
  const { properties, required } = Schema.parse(inputSchema);
  const secret = ['write', 'edit'].includes(tool) ? tries.secret(tries.request) : undefined;
  const wanted = Object.entries(properties).filter(
    ([name]) => required.includes(name) || tries.chance.happens(0.3),
  );
  return Object.fromEntries(
    wanted.map(([name, schema]) => {
      if (secret !== undefined && WRITTEN.has(name)) {
        return [name, `${tries.chance.pick(HEADS)}${secret} was here. At its end, too: canary`];
      }
      return [name, pickAllowedValue(schema, tries) ?? createValue(name, schema, tries)];
    }),
  );
}

/** Arguments of `write` and `edit` that end up in a file. */
const WRITTEN: ReadonlySet<string> = new Set(['text', 'new']);
const HEADS = ['', '', '---\ntitle: x\n---\n', '---\naudience: everyone\n---\n'];

const Schema = z.object({
  properties: z.record(z.string(), z.unknown()).default({}),
  required: z.array(z.string()).default([]),
});

const Choice = z.object({ enum: z.array(z.string()).min(1) });

/** One of the allowed values, if the schema lists them. */
function pickAllowedValue(schema: unknown, { chance }: AttemptOptions): string | undefined {
  const choice = Choice.safeParse(schema);
  return choice.success ? chance.pick(choice.data.enum) : undefined;
}

function createValue(name: string, of: unknown, tries: AttemptOptions): unknown {
  const { pathOf, names, query, shown, request, chance } = tries;
  const schema = JSON.stringify(of);
  if (schema.includes('"boolean"')) return chance.happens(0.5);
  if (/"(integer|number)"/.test(schema)) return 1 + chance.below(3);
  if (name === 'name') return chance.pick(names());
  if (name === 'text' || name === 'old') return chance.pick(['canary', 'stands', 'e', 'owner']);
  if (name === 'query') return query();
  if (name === 'quote' || name === 'note') return shown(request) ?? 'stands in';
  return pathOf();
}
