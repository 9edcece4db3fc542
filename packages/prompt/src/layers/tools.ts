import { pluralize } from '@parley/core';
import { z } from 'zod';
import {
  createAbsent,
  createChatPart,
  type Layer,
  type PromptContext,
  type ToolNote,
  type ToolTier,
} from '../layer.ts';
import { findNarrowestAudience, formatListItem } from '../text.ts';
import { insertToolList, readContextFile } from './files.ts';

/**
 * The agent's tools in this chat, generated from the registered tools (P11). If the layout names a
 * file, the list replaces its `{tools_description}` placeholder, or precedes the file's own text
 * (P06, P08).
 */
export function createToolsLayer(): Layer {
  const describers = {
    brief: createToolDescriber(listToolNames),
    plain: createToolDescriber((tools) => describeTools(tools, false)),
    detailed: createToolDescriber((tools) => describeTools(tools, true)),
  };
  return {
    id: 'tools',
    volatility: 'session',
    placement: 'system',
    modes: ['full', 'minimal'],
    async render(context, options) {
      const { heading: title = '## Tools', files: [file] = [], characters } = options;
      const { brief = false, detailed = false, guided = false } = options;
      const { tools, reader } = context;
      if (tools === undefined) return createAbsent('the list of tools is unknown');
      const described = describers[detailed ? 'detailed' : brief ? 'brief' : 'plain'](tools);
      const choice = guided ? listToolRules(tools) : [];
      const heading = choice.length === 0 ? title : [title, ...choice, ''].join('\n');
      const everyone = {
        source: pluralize(tools.length, 'tool'),
        audience: { kind: 'everyone' },
      } as const;
      const notes =
        file === undefined ? undefined : await readContextFile(context, file, characters);
      if (notes === undefined || 'absent' in notes) {
        return { text: `${heading}\n${described}`, ...everyone };
      }
      return {
        text: `${heading}\n${insertToolList(notes.text, described)}`,
        source: `${everyone.source}, ${notes.source}`,
        audience: findNarrowestAudience([everyone, notes], reader),
        cut: notes.cut,
      };
    },
  };
}

const TIERS: readonly (readonly [ToolTier, string])[] = [
  ['middleware', 'Middleware'],
  ['filesystem', 'Filesystem'],
  ['external-mcp', 'External MCP'],
  ['sandbox', 'Sandbox'],
  ['knowledge-base', 'Knowledge base'],
];

/**
 * Without this section, a model promises lookups, memories and reminders that it cannot deliver.
 */
const NO_TOOLS =
  'You have no tools in this chat: you can read messages, and what people attach to them as far as it is shown to you, and answer.';

/**
 * Returns a function that describes tools, cached by the list object, which stays the same until
 * the tools change.
 */
function createToolDescriber(
  describe: (tools: readonly ToolNote[]) => string,
): (tools: readonly ToolNote[]) => string {
  const known = new WeakMap<readonly ToolNote[], string>();
  return (tools) => {
    const before = known.get(tools);
    if (before !== undefined) return before;
    const described = tools.length === 0 ? NO_TOOLS : describe(tools);
    known.set(tools, described);
    return described;
  };
}

/**
 * Lists the registered tools by tier (P11). Their descriptions are in the tool definitions of the
 * same request, or in the catalog of `open_tools`.
 */
function listToolNames(tools: readonly ToolNote[]): string {
  const isHeld = ({ placeholder }: ToolNote) => placeholder === true;
  const list = (heading: string, listed: readonly ToolNote[]) =>
    listed.length === 0
      ? []
      : [`- ${heading}: ${listed.map(({ name }) => `\`${name}\``).join(', ')}`];
  return [
    ...TIERS.flatMap(([tier, heading]) =>
      list(
        heading,
        tools.filter((tool) => tool.tier === tier && !isHeld(tool)),
      ),
    ),
    ...list('Not available now', tools.filter(isHeld)),
    ...(tools.some(({ name }) => name === OPEN_TOOLS) ? [NOT_DEFINED] : []),
  ].join('\n');
}

/** The name of the tool that opens groups of tools for the rest of a session. */
export const OPEN_TOOLS = 'open_tools';
const NOT_DEFINED = `Tools without a definition are in the groups of \`${OPEN_TOOLS}\`.`;

/** Describes the registered tools by tier, with their authors' descriptions (P11). */
function describeTools(tools: readonly ToolNote[], isDetailed: boolean): string {
  const groups = TIERS.flatMap(([tier, heading]) => {
    const lines = tools
      .filter((tool) => tool.tier === tier)
      .map((tool) => formatTool(tool, isDetailed));
    return lines.length === 0 ? [] : [`### ${heading}\n${lines.join('\n')}`];
  });
  return groups.join('\n\n');
}

function formatTool(
  { name, summary, hint, input, placeholder = false }: ToolNote,
  isDetailed: boolean,
): string {
  const parts = [placeholder ? 'Not available now.' : '', summary, hint ?? ''];
  const line = `\`${name}\`: ${parts.filter((word) => word !== '').join(' ')}`;
  return formatListItem(
    isDetailed && input !== undefined ? `${line}\n${formatParameters(input)}` : line,
  );
}

const TIER_ORDER =
  'The groups stand in the order in which to look for a tool: take the first one that does the job.';
const TODOS_OR_MEMORY =
  '`write_todos` holds the plan of this session and ends with it; `save_memory` keeps for good what people prefer and what matters.';

/** Instructions for choosing among the tools (P06), one per line. */
function listToolRules(tools: readonly ToolNote[]): readonly string[] {
  const usable = tools.filter(({ placeholder }) => placeholder !== true);
  const names = new Set(usable.map(({ name }) => name));
  return [
    ...(new Set(tools.map(({ tier }) => tier)).size > 1 ? [TIER_ORDER] : []),
    ...(names.has('write_todos') && names.has('save_memory') ? [TODOS_OR_MEMORY] : []),
  ];
}

const MAX_PARAMETERS = 20;

/** The schema fields that are shown for a parameter; MCP servers may add arbitrary others. */
const Parameter = z.looseObject({
  type: z.unknown().optional(),
  enum: z.unknown().optional(),
  anyOf: z.unknown().optional(),
});
const Parameters = z.object({
  properties: z.record(z.string(), Parameter.catch({})).catch({}),
  required: z.array(z.string()).catch([]),
});

/** A tool's parameters in one line: name, type, and whether each is required. */
function formatParameters(input: NonNullable<ToolNote['input']>): string {
  const { properties, required } = Parameters.parse(input);
  const named = Object.entries(properties).filter(([name]) => /^[\w.-]{1,64}$/.test(name));
  if (named.length === 0) return 'Parameters: none';
  const shown = named.slice(0, MAX_PARAMETERS).map(([name, parameter]) => {
    return `${name} (${formatParameterType(parameter)}${required.includes(name) ? ', required' : ''})`;
  });
  const left = named.length - shown.length;
  const cut = left === 0 ? '' : ` [cut: ${shown.length} of ${named.length}]`;
  return `Parameters: ${shown.join(', ')}${cut}`;
}

const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

function formatParameterType({ type, enum: choices, anyOf }: z.infer<typeof Parameter>): string {
  const given = (Array.isArray(type) ? type : [type]).filter((one) => TYPES.includes(one));
  if (given.length > 0) return given.join(' or ');
  return Array.isArray(choices) ? 'choice' : Array.isArray(anyOf) ? 'several types' : 'any';
}

/**
 * The abilities that people expect of an agent, with the tools for each. A test compares these with
 * the built-in tools.
 */
export const EXPECTED_ABILITIES: readonly (readonly [ability: string, tools: readonly string[]])[] =
  [
    ['read files', ['read']],
    ['write or change files', ['write', 'edit']],
    ['run commands or programs', ['exec']],
    ['open web pages', ['web_fetch']],
    ['search the web', ['web_search']],
    ['keep something for good', ['save_memory']],
    ['remind anybody, or do something later', ['cron']],
    ['write to another chat', ['message']],
    ['send files', ['send_file']],
    ['speak: answers are text', ['speak']],
    ['hand work on to a sub-agent', ['delegate_task']],
  ];

/**
 * The abilities that the agent has and lacks in this chat, derived from its actual tools, the mode
 * and the reader (P06).
 */
export const abilitiesLayer: Layer = {
  id: 'abilities',
  volatility: 'session',
  placement: 'system',
  modes: ['full', 'minimal'],
  render(context, { heading = '## Abilities and Limits' }) {
    const { tools, reader } = context;
    if (tools === undefined) return createAbsent('the list of tools is unknown');
    const usable = tools.filter(({ placeholder }) => placeholder !== true);
    const able = TIERS.flatMap(([tier, name]) => {
      const names = usable.filter((tool) => tool.tier === tier).map((tool) => `\`${tool.name}\``);
      return names.length === 0 ? [] : [`- ${name}: ${names.join(', ')}`];
    });
    const limits = listAbilityLimits(context, tools, usable).map((limit) => `- ${limit}`);
    const lines = [
      ...(able.length === 0 ? [NO_TOOLS] : ['You can use these tools:', ...able]),
      'You cannot do this here; say so instead of promising it:',
      ...limits,
      ...listTurnLimits(context),
    ];
    return createChatPart(
      reader,
      [heading, ...lines].join('\n'),
      pluralize(usable.length, 'usable tool'),
    );
  },
};

/** Runs without a person and sub-agents have separate limits. */
function listTurnLimits({ mode = 'full', facts, turnLimits }: PromptContext): readonly string[] {
  if (mode !== 'full' || facts.heartbeat || turnLimits === undefined) return [];
  const { steps, minutes } = turnLimits;
  return [
    `A turn has at most ${pluralize(steps, 'step')} and ${pluralize(minutes, 'minute')}. What needs more, do in parts: say what is done and what is left.`,
  ];
}

function listAbilityLimits(
  { conversationMode = 'agent', reader, sandbox }: PromptContext,
  tools: readonly ToolNote[],
  usable: readonly ToolNote[],
): readonly string[] {
  const has = (list: readonly ToolNote[], names: readonly string[]) =>
    list.some(({ name }) => names.includes(name));
  const missing = EXPECTED_ABILITIES.flatMap(([ability, names]) => {
    if (has(usable, names)) return [];
    const isHeld = has(tools, names);
    return [isHeld ? `${ability} (not in ${conversationMode} mode)` : ability];
  });
  return [
    ...missing,
    ...(sandbox !== undefined && canRunCommands(usable)
      ? ['reach more with commands than Sandbox says']
      : []),
    ...(reader.kind === 'owner' ? [] : ['see what is private to your owner']),
    'anything else that takes a tool',
  ];
}

/** Whether these tools can run commands. */
export function canRunCommands(tools: readonly ToolNote[] = []): boolean {
  return tools.some(({ name, placeholder }) => name === 'exec' && placeholder !== true);
}
