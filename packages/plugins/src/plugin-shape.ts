import type { Tool, TurnHook } from '@parley/agent';
import type { ChannelDefinition } from '@parley/channels';
import type { ContextSource } from '@parley/prompt';
import { z } from 'zod';
import type { Plugin, PluginLayer, PluginParts } from './plugin.ts';
import { PluginError } from './plugin-error.ts';

const Kebab = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be kebab-case, at most 64 characters');
const Snake = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be snake_case, at most 64 characters');
const Words = z.string().min(1, 'must not be empty');
const Work = z.custom((value) => typeof value === 'function', 'must be a function');
const Schema = z.custom<z.ZodType>(
  (value) => typeof value === 'object' && value !== null && 'safeParse' in value,
  'must be a zod schema',
);

/** Checks a value and hands on the very same one: copies would lose methods and `this`. */
function same<Value>(shape: z.ZodType): z.ZodType<Value> {
  return z.custom<Value>().superRefine((value, context) => {
    const { error } = shape.safeParse(value);
    for (const { path, message } of error?.issues ?? []) {
      context.addIssue({ code: 'custom', path: [...path], message });
    }
  });
}

/** A path inside the workspace, or with a slash at its end a folder. */
const Reads = z
  .array(z.string().regex(/^[^./\\\s][^\\]*$/, 'must be paths as `notes/today.md` or `notes/`'))
  .optional();

const ToolShape = z.looseObject({
  name: Snake,
  summary: Words,
  hint: z.string().optional(),
  tier: z.enum(['middleware', 'filesystem', 'external-mcp', 'sandbox', 'knowledge-base']),
  effect: z.enum(['read', 'write', 'external']),
  audience: z.enum(['everyone', 'owner']),
  approval: z.enum(['never', 'ask', 'ask-after-foreign-words']),
  input: Schema,
  run: Work,
});
const LayerShape = z.looseObject({
  id: Kebab,
  volatility: z.enum(['static', 'session', 'turn']),
  placement: z.enum(['system', 'user']),
  modes: z.array(z.enum(['full', 'minimal', 'none'])).optional(),
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
const ChannelShape = z.looseObject({
  id: Kebab,
  settings: Schema,
  answersStrangers: z.boolean().optional(),
  load: Work,
});
const SourceShape = z.looseObject({ id: Kebab, reads: Reads, gather: Work });
const PluginShape = z.looseObject({
  name: Kebab,
  version: z.string().optional(),
  options: Schema.optional(),
  setup: Work,
});

const Exported = same<Plugin>(PluginShape);
const Parts: z.ZodType<PluginParts> = z.strictObject({
  tools: z.array(same<Tool>(ToolShape)).exactOptional(),
  skills: z.array(Words).exactOptional(),
  layers: z.array(same<PluginLayer>(LayerShape)).exactOptional(),
  hooks: z.array(same<TurnHook>(HookShape)).exactOptional(),
  channels: z.array(same<ChannelDefinition>(ChannelShape)).exactOptional(),
  sources: z.array(same<ContextSource>(SourceShape)).exactOptional(),
});

/** The plugin that a module exports, as `plugin` or by default. Throws PluginError `plugin-shape`. */
export function pluginIn(module: object): Plugin {
  const exported = 'plugin' in module ? module.plugin : 'default' in module && module.default;
  if (!exported) {
    throw new PluginError('plugin-shape', 'it has no export `plugin`. See docs/new-plugin.md.');
  }
  const { data, error } = Exported.safeParse(exported);
  if (error) throw new PluginError('plugin-shape', `its export is no plugin: ${wordsOf(error)}.`);
  return data;
}

/** What a setup gave back, checked. Throws PluginError `plugin-shape`. */
export function checkParts(given: unknown): PluginParts {
  const { data, error } = Parts.safeParse(given);
  if (error) throw new PluginError('plugin-shape', `what it brings is wrong: ${wordsOf(error)}.`);
  return data;
}

/** The options by the plugin's own schema. Throws PluginError `plugin-options`; values are not shown. */
export function checkOptions(plugin: Plugin, written: unknown): unknown {
  if (plugin.options === undefined) return written;
  const { data, error } = plugin.options.safeParse(written);
  if (error) throw new PluginError('plugin-options', `its options are wrong: ${wordsOf(error)}.`);
  return data;
}

function wordsOf(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => [z.core.toDotPath(path), message].filter(Boolean).join(': '))
    .join('; ');
}
