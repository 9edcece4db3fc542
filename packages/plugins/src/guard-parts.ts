import {
  runWithTimeLimit,
  type Tool,
  ToolOutcomeShape,
  TurnAdditionsShape,
  type TurnHook,
} from '@parley/agent';
import type { ChannelDefinition } from '@parley/channels';
import type { ChannelProbe } from '@parley/channels/probe';
import { Audience, type ChannelIds, type Defects, type IdForm, reasonOf } from '@parley/core';
import type { ContextSource, Layer } from '@parley/prompt';
import { z } from 'zod';
import type { LoadedParts, PluginLayer } from './plugin.ts';

/** The deadline for a result, in ms, which is the same as for hooks (P16). */
const TIMEOUT_MS = 2_000;
/** The deadline for loading a channel, in ms, which is the same as for a setup. */
const LOAD_MS = 10_000;

const Cut = z.object({ shown: z.number(), total: z.number() });
/** The result of rendering a layer. */
const Rendered = z.union([
  z.object({ absent: z.string() }),
  z.object({
    text: z.string(),
    source: z.string(),
    audience: Audience,
    cut: Cut.nullable().exactOptional(),
  }),
]);
const Features = z.looseObject({});

/**
 * Wraps a plugin's layer so that it cannot delay or break prompt assembly. The wrapper throws if
 * the layer times out or returns anything but text with an audience, and the assembler then leaves
 * the layer out.
 */
export function guardLayer(layer: PluginLayer, patienceMs = TIMEOUT_MS): Layer {
  const { id, volatility, placement, modes, reads = [] } = layer;
  return {
    id,
    volatility,
    placement,
    reads,
    ...(modes === undefined ? {} : { modes }),
    async render(context, options) {
      const output = await runWithTimeLimit({ ms: patienceMs }, async () =>
        layer.render(context, options),
      );
      const { data, error } = Rendered.safeParse(output);
      if (error) throw new Error(`the layer ${id} returned neither text nor a reason for none`);
      return data;
    },
  };
}

/**
 * Wraps a plugin's source so that it cannot delay or break prompt assembly. The layers validate the
 * fields of a source.
 */
export function guardSource(source: ContextSource, patienceMs = TIMEOUT_MS): ContextSource {
  const { id, reads = [] } = source;
  return {
    id,
    reads,
    gather: (turn) =>
      runWithTimeLimit({ ms: patienceMs }, async () => Features.parse(await source.gather(turn))),
  };
}

/** Wraps a plugin's channel so that its code cannot delay the start of the other channels. */
export function guardChannel(channel: ChannelDefinition, patienceMs = LOAD_MS): ChannelDefinition {
  const { id, settings, answersStrangers, ids, menu, probe } = channel;
  return {
    id,
    settings,
    ...(answersStrangers === undefined ? {} : { answersStrangers }),
    ...(menu === undefined ? {} : { menu }),
    ...(probe === undefined ? {} : { probe: guardedProbe(channel, probe) }),
    ...(ids === undefined ? {} : { ids: guardIds(ids) }),
    load: () => runWithTimeLimit({ ms: patienceMs }, async () => channel.load()),
  };
}

const Problem = { reason: z.string(), fix: z.string() };
const Probed: z.ZodType<ChannelProbe> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('works'),
    as: z.string(),
    warnings: z.array(z.object(Problem)),
    clock: z.object({ server: z.string(), aheadMs: z.number() }).nullable(),
    picture: z.instanceof(Uint8Array).exactOptional(),
    invitation: z.string().exactOptional(),
  }),
  z.object({ kind: z.literal('unlinked'), ...Problem }),
  z.object({ kind: z.literal('unknown'), reason: z.string() }),
  z.object({ kind: z.literal('problem'), ...Problem, retryable: z.boolean() }),
]);

/** Wraps a probe so that a bug in it is reported by `parley doctor`, which continues. */
function guardedProbe(
  channel: ChannelDefinition,
  probe: NonNullable<ChannelDefinition['probe']>,
): NonNullable<ChannelDefinition['probe']> {
  return async (settings, env) => {
    try {
      return Probed.parse(await probe.call(channel, settings, env));
    } catch (error) {
      env.signal.throwIfAborted();
      const reason = `its probe failed: ${reasonOf(error)}`;
      const fix = 'Report this to the author of the plugin.';
      return { kind: 'problem', reason, fix, retryable: false };
    }
  };
}

/**
 * Wraps id formats so that a format that throws accepts an id as written. A bug in an id format
 * must not prevent the settings from being read.
 */
function guardIds({ person, group, direct, role, thread }: ChannelIds): ChannelIds {
  const guarded = ({ expected, howToFind, ...form }: IdForm): IdForm => ({
    expected,
    howToFind,
    normalize(written) {
      try {
        return z.string().min(1).nullable().parse(form.normalize(written));
      } catch {
        return written.trim();
      }
    },
  });
  return {
    person: guarded(person),
    group: group && guarded(group),
    direct: guarded(direct),
    role: role && guarded(role),
    thread: thread && guarded(thread),
  };
}

const Proposed = z
  .object({ shown: z.record(z.string(), z.unknown()), content: z.string(), always: z.boolean() })
  .nullable();

type ValidatedParts = Pick<LoadedParts, 'tools' | 'layers' | 'hooks' | 'sources'>;

/**
 * Wraps parts so that their results are validated when they are returned to Parley. An invalid
 * result is counted and thrown as an error, which drops that one result. A plugin part with several
 * invalid results in a row is no longer called.
 */
export function withResultValidation(
  { tools, layers, hooks, sources }: ValidatedParts,
  defects: Defects,
): ValidatedParts {
  return {
    tools: tools.map((tool): Tool => {
      const checked = validateMethodResult(
        defects,
        tool,
        'run',
        `tool ${tool.name}`,
        ToolOutcomeShape,
      );
      if (tool.proposes === undefined) return checked;
      return validateMethodResult(
        defects,
        checked,
        'proposes',
        `proposal of ${tool.name}`,
        Proposed,
      );
    }),
    layers: layers.map((layer) =>
      validateMethodResult<PluginLayer>(defects, layer, 'render', `layer ${layer.id}`, Rendered),
    ),
    hooks: hooks.map((hook): TurnHook => {
      if (hook.before === undefined) return hook;
      return validateMethodResult(defects, hook, 'before', `hook ${hook.id}`, TurnAdditionsShape);
    }),
    sources: sources.map((source) =>
      validateMethodResult<ContextSource>(
        defects,
        source,
        'gather',
        `source ${source.id}`,
        Features,
      ),
    ),
  };
}

/**
 * Replaces one function of a plugin part with a checked one; all other functions keep their `this`.
 */
function validateMethodResult<Part extends object>(
  defects: Defects,
  part: Part,
  method: keyof Part,
  what: string,
  shape: z.ZodType,
): Part {
  const call = async (...args: readonly unknown[]): Promise<unknown> => {
    if (defects.isOff(what))
      throw new Error(
        `the ${what} is no longer called, because its results were invalid too often`,
      );
    const work: unknown = Reflect.get(part, method);
    if (typeof work !== 'function') throw new Error(`the ${what} is no longer a function`);
    const result: unknown = await Reflect.apply(work, part, args);
    const { error } = shape.safeParse(result);
    if (error === undefined) {
      defects.pass(what);
      return result;
    }
    const fields = error.issues.map(({ path }) => z.core.toDotPath(path) || 'the result');
    const reason = `its result violates the contract: ${[...new Set(fields)].join(', ')}`;
    defects.note(what, reason);
    throw new Error(`the ${what} broke its contract: ${reason}`);
  };
  return new Proxy(part, {
    get(_, name) {
      if (name === method) return call;
      const value: unknown = Reflect.get(part, name);
      return typeof value === 'function' ? value.bind(part) : value;
    },
  });
}
