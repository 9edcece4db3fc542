import type { Tool, TurnHook } from '@parley/agent';
import type { ChannelDefinition } from '@parley/channels';
import { type Clock, type Defects, describeDefects, type Logger, ParleyError } from '@parley/core';
import type { ContextSource, Layer, LayerId } from '@parley/prompt';
import { z } from 'zod';

/** The services that Parley passes to a plugin's setup. */
export interface PluginHost {
  /**
   * A log that adds the plugin's name to each line. Secrets from the settings are removed from log
   * lines.
   */
  readonly log: Logger;
  readonly clock: Clock;
  /** The absolute path of the plugin's own folder. */
  readonly folder: string;
  /** A signal that is aborted if the setup takes too long. */
  readonly signal: AbortSignal;
}

/** A plugin's prompt layer. The layer's text has an audience, like any other text. */
export interface PluginLayer extends Layer {
  /**
   * The layer after which this layer is placed if that keeps the prompt cacheable; otherwise the
   * position depends on the volatility.
   */
  readonly after?: LayerId;
}

/** The parts that a plugin provides (P16). All parts are optional. */
export interface PluginParts {
  readonly tools?: readonly Tool[];
  /**
   * Folders with skills, relative to the plugin's folder. Skills from any other source take
   * precedence.
   */
  readonly skills?: readonly string[];
  readonly layers?: readonly PluginLayer[];
  readonly hooks?: readonly TurnHook[];
  readonly channels?: readonly ChannelDefinition[];
  /** Sources that provide content for Parley's layers. Parley's own sources take precedence. */
  readonly sources?: readonly ContextSource[];
}

/** A plugin: the `plugin` export of a package or folder. */
export interface Plugin<Options = unknown> {
  /**
   * The plugin's name in kebab-case. If two plugins have the same name, only the first is loaded.
   */
  readonly name: string;
  readonly version?: string;
  /** Validates the `options` from the settings; if it is absent, they are passed on unchanged. */
  readonly options?: z.ZodType<Options>;
  /**
   * Sets the plugin up, within ten seconds. An error is shown to the operator, and Parley continues
   * without the plugin.
   */
  setup(options: Options, host: PluginHost): PluginParts | Promise<PluginParts>;
}

/** Infers the type of the options from their schema; returns its argument. */
export function definePlugin<Options = Readonly<Record<string, unknown>>>(
  plugin: Plugin<Options>,
): Plugin {
  return plugin;
}

/** A plugin entry in the settings. References in the options are already resolved. */
export interface PluginChoice {
  /** The path of a folder, or the name of an installed package. */
  readonly use: string;
  readonly options: Readonly<Record<string, unknown>>;
}

/** The validated parts of one or several plugins. Skills are absolute folder paths. */
export interface LoadedParts {
  readonly tools: readonly Tool[];
  readonly skills: readonly string[];
  readonly layers: readonly PluginLayer[];
  readonly hooks: readonly TurnHook[];
  readonly channels: readonly ChannelDefinition[];
  readonly sources: readonly ContextSource[];
}

/** The outcome of loading one plugin from the settings. */
export type PluginOutcome =
  | {
      readonly kind: 'loaded';
      readonly use: string;
      readonly name: string;
      readonly version: string | undefined;
      readonly parts: LoadedParts;
      /** Parts that were dropped, with the reasons, for people. */
      readonly left: readonly string[];
      /** How often its parts have violated their contract since they were loaded. */
      readonly defects: Pick<Defects, 'summary'>;
    }
  | {
      readonly kind: 'failed';
      readonly use: string;
      /** Undefined if loading failed before the name was known. */
      readonly name: string | undefined;
      /** The reason, which completes the sentence "NAME does not work: …". */
      readonly reason: string;
    };

/** The combined parts of all working plugins, in the order of the settings. */
export function combineParts(outcomes: readonly PluginOutcome[]): LoadedParts {
  const all = outcomes.flatMap((outcome) => (outcome.kind === 'loaded' ? [outcome.parts] : []));
  return {
    tools: all.flatMap(({ tools }) => tools),
    skills: all.flatMap(({ skills }) => skills),
    layers: all.flatMap(({ layers }) => layers),
    hooks: all.flatMap(({ hooks }) => hooks),
    channels: all.flatMap(({ channels }) => channels),
    sources: all.flatMap(({ sources }) => sources),
  };
}

export type PluginErrorCode =
  | 'plugin-missing'
  | 'plugin-location'
  | 'plugin-import'
  | 'plugin-shape'
  | 'plugin-options'
  | 'plugin-setup'
  | 'plugin-timeout'
  | 'plugin-duplicate';

/**
 * Thrown for a plugin that cannot be used. The message completes the sentence "NAME does not work:
 * …".
 */
export class PluginError extends ParleyError {
  constructor(code: PluginErrorCode, message: string, cause?: unknown) {
    super({ code, message, retryable: false, cause });
  }
}

const Kebab = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be kebab-case, at most 64 characters');
const Snake = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be snake_case, at most 64 characters');
const NonEmpty = z.string().min(1, 'must not be empty');
const Work = z.custom((value) => typeof value === 'function', 'must be a function');
const Schema = z.custom<z.ZodType>(
  (value) => typeof value === 'object' && value !== null && 'safeParse' in value,
  'must be a zod schema',
);

/** Validates a value and returns the same object, because a copy would lose methods and `this`. */
function createIdentitySchema<Value>(shape: z.ZodType): z.ZodType<Value> {
  return z.custom<Value>().superRefine((value, context) => {
    const { error } = shape.safeParse(value);
    for (const { path, message } of error?.issues ?? []) {
      context.addIssue({ code: 'custom', path: [...path], message });
    }
  });
}

/** Matches a path inside the workspace, or a folder if it ends with a slash. */
const Reads = z
  .array(
    z.string().regex(/^[^./\\\s][^\\]*$/, 'must be paths such as `notes/today.md` or `notes/`'),
  )
  .optional();

const ToolShape = z.looseObject({
  name: Snake,
  summary: NonEmpty,
  hint: z.string().optional(),
  tier: z.enum(['middleware', 'filesystem', 'external-mcp', 'sandbox', 'knowledge-base']),
  effect: z.enum(['read', 'write', 'external']),
  audience: z.enum(['everyone', 'owner']),
  approval: z.enum(['never', 'ask', 'ask-after-untrusted-text']),
  input: Schema,
  run: Work,
});
const LayerShape = z.looseObject({
  id: Kebab,
  volatility: z.enum(['static', 'session', 'turn']),
  placement: z.enum(['system', 'user']),
  modes: z.array(z.enum(['full', 'light', 'minimal', 'none'])).optional(),
  after: z.string().optional(),
  reads: Reads,
  render: Work,
});
const HookShape = z.looseObject({
  id: Kebab,
  reads: Reads,
  before: Work.optional(),
  after: Work.optional(),
});
/**
 * The first words of the lanes used by heartbeats and sub-agents; the lane of a chat begins with
 * the name of its channel.
 */
const LANES: ReadonlySet<string> = new Set(['beat', 'sub']);

/** The schema for the id format of one kind of id. */
const IdShape = z.looseObject({ expected: NonEmpty, howToFind: NonEmpty, normalize: Work });

const ChannelShape = z.looseObject({
  id: Kebab.refine((id) => !LANES.has(id), 'is taken by Parley itself; choose another id'),
  settings: Schema,
  answersStrangers: z.boolean().optional(),
  ids: z
    .looseObject({
      person: IdShape,
      group: IdShape.nullable(),
      direct: IdShape,
      role: IdShape.nullable(),
      thread: IdShape.nullable(),
    })
    .optional(),
  menu: z
    .looseObject({
      commands: z.number(),
      description: z.looseObject({ max: z.number(), unit: z.enum(['utf16', 'codepoint']) }),
      name: z.instanceof(RegExp),
    })
    .optional(),
  probe: Work.optional(),
  load: Work,
});
const SourceShape = z.looseObject({ id: Kebab, reads: Reads, gather: Work });
const PluginShape = z.looseObject({
  name: Kebab,
  version: z.string().optional(),
  options: Schema.optional(),
  setup: Work,
});

const Exported = createIdentitySchema<Plugin>(PluginShape);
const Parts: z.ZodType<PluginParts> = z.strictObject({
  tools: z.array(createIdentitySchema<Tool>(ToolShape)).exactOptional(),
  skills: z.array(NonEmpty).exactOptional(),
  layers: z.array(createIdentitySchema<PluginLayer>(LayerShape)).exactOptional(),
  hooks: z.array(createIdentitySchema<TurnHook>(HookShape)).exactOptional(),
  channels: z.array(createIdentitySchema<ChannelDefinition>(ChannelShape)).exactOptional(),
  sources: z.array(createIdentitySchema<ContextSource>(SourceShape)).exactOptional(),
});

/**
 * Returns the plugin that a module exports, as `plugin` or by default. Throws PluginError
 * `plugin-shape` if there is none.
 */
export function getExportedPlugin(module: object): Plugin {
  const exported = 'plugin' in module ? module.plugin : 'default' in module && module.default;
  if (!exported) {
    throw new PluginError('plugin-shape', 'it has no `plugin` export. See docs/new-plugin.md.');
  }
  const { data, error } = Exported.safeParse(exported);
  if (error)
    throw new PluginError('plugin-shape', `its export is not a plugin: ${describeIssues(error)}.`);
  return data;
}

/** Validates the result of a setup. Throws PluginError `plugin-shape` if the result is invalid. */
export function checkParts(given: unknown): PluginParts {
  const { data, error } = Parts.safeParse(given);
  if (error)
    throw new PluginError('plugin-shape', `its parts are invalid: ${describeIssues(error)}.`);
  return data;
}

/**
 * Validates the options with the plugin's own schema. Throws PluginError `plugin-options` if they
 * are invalid; the message contains no values.
 */
export function checkOptions(plugin: Plugin, written: unknown): unknown {
  if (plugin.options === undefined) return written;
  const { data, error } = plugin.options.safeParse(written);
  if (error)
    throw new PluginError('plugin-options', `its options are wrong: ${describeIssues(error)}.`);
  return data;
}

function describeIssues(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => [z.core.toDotPath(path), message].filter(Boolean).join(': '))
    .join('; ');
}

/** Describes a plugin's outcome in one line: its parts, or why it does not work. */
export function describeOutcome(outcome: PluginOutcome): string {
  if (outcome.kind === 'failed') {
    return `${outcome.name ?? outcome.use} does not work: ${outcome.reason}`;
  }
  const { name, version, parts, left, defects } = outcome;
  const title = version === undefined ? name : `${name} ${version}`;
  const without = left.length === 0 ? '' : `; left out: ${left.join('; ')}`;
  const found = defects.summary();
  const wrong = found === undefined ? '' : `; it has ${describeDefects(found)}`;
  return `${title} brings ${describeParts(parts) || 'nothing'}${without}${wrong}`;
}

function describeParts({ tools, skills, layers, hooks, channels, sources }: LoadedParts): string {
  return [
    listNames(
      'tool',
      tools.map(({ name }) => name),
    ),
    skills.length === 0 ? '' : `skills in ${skills.join(', ')}`,
    listNames(
      'layer',
      layers.map(({ id }) => id),
    ),
    listNames(
      'hook',
      hooks.map(({ id }) => id),
    ),
    listNames(
      'channel',
      channels.map(({ id }) => id),
    ),
    listNames(
      'source',
      sources.map(({ id }) => id),
    ),
  ]
    .filter((part) => part !== '')
    .join(', ');
}

function listNames(what: string, names: readonly string[]): string {
  if (names.length === 0) return '';
  return `${names.length === 1 ? what : `${what}s`} ${names.join(' and ')}`;
}
