import { countOf } from '@parley/core';
import type { SkillSnapshot } from '@parley/workspace';
import { absent, forChat, type Layer, type ToolNote, type ToolTier } from '../layer.ts';
import { listItem, narrowestAudience } from '../text.ts';
import { fillTools, readContextFile } from './files.ts';

/**
 * What the agent can do here, generated from the registered tools (P11). Where the layout names a file
 * for it, the list goes where that file has `{tools_description}`, or before the file's own text (P06,
 * P08).
 */
export function toolsLayer(): Layer {
  const describe = toolDescriber();
  return {
    id: 'tools',
    volatility: 'session',
    placement: 'system',
    modes: ['full', 'minimal'],
    async render(context, { heading = '## Tools', files: [file] = [], characters }) {
      const { tools, reader } = context;
      if (tools === undefined) return absent('it was not said which tools there are');
      const described = describe(tools);
      const everyone = {
        source: countOf(tools.length, 'tool'),
        audience: { kind: 'everyone' },
      } as const;
      const notes =
        file === undefined ? undefined : await readContextFile(context, file, characters);
      if (notes === undefined || 'absent' in notes) {
        return { text: `${heading}\n${described}`, ...everyone };
      }
      return {
        text: `${heading}\n${fillTools(notes.text, described)}`,
        source: `${everyone.source}, ${notes.source}`,
        audience: narrowestAudience([everyone, notes], reader),
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

/** Without this a model promises to look things up, to remember, to remind. */
const NO_TOOLS =
  'You have no tools in this chat: you can read messages, and what people attach to them as far as it is shown to you, and answer.';

/** Describes tools, each list once: it stays the same object as long as the tools do. */
function toolDescriber(): (tools: readonly ToolNote[]) => string {
  const known = new WeakMap<readonly ToolNote[], string>();
  return (tools) => {
    const before = known.get(tools);
    if (before !== undefined) return before;
    const described = describeTools(tools);
    known.set(tools, described);
    return described;
  };
}

/** The registered tools by tier, with the texts of their authors (P11). */
function describeTools(tools: readonly ToolNote[]): string {
  if (tools.length === 0) return NO_TOOLS;
  const groups = TIERS.flatMap(([tier, heading]) => {
    const lines = tools.filter((tool) => tool.tier === tier).map(toolLine);
    return lines.length === 0 ? [] : [`### ${heading}\n${lines.join('\n')}`];
  });
  return groups.join('\n\n');
}

function toolLine({ name, summary, hint, placeholder = false }: ToolNote): string {
  const parts = [placeholder ? 'Not available now.' : '', summary, hint ?? ''];
  return listItem(`\`${name}\`: ${parts.filter((word) => word !== '').join(' ')}`);
}

const SKILL_RULES = `Skills are documents, not tools: you cannot call one. Look through their descriptions before you answer.
- One clearly applies: read it first, with \`load_skill\` or \`read\` at its location, then do as it says.
- Several could apply: read the most specific one.
- None clearly applies: read none.
- Never read more than one up front. Open what else lies in a skill's folder only when the skill asks for it.`;

/** The skills of the session (S04), and those whose whole text is in the prompt (S06). */
export const skillsLayer: Layer = {
  id: 'skills',
  volatility: 'session',
  placement: 'system',
  modes: ['full', 'minimal'],
  render({ skills }, { heading = '## Skills' }) {
    if (skills === undefined) return absent('this turn knows no skills');
    const { catalogue, inline, names, left, audience } = skills;
    if (catalogue === '' && inline.length === 0) return absent('no skill is eligible');
    const outlined = catalogue === '' ? [] : [`${SKILL_RULES}\n\n${catalogue}${noticeOf(skills)}`];
    const bodies = inline.map(({ name, body }) => `### Skill: ${name}\n${body.trim()}`);
    const text = `${heading}\n${[...outlined, ...bodies].join('\n\n')}`;
    const cut = left === 0 ? {} : { cut: { shown: names.length, total: names.length + left } };
    return { text, source: countOf(names.length, 'skill'), audience, ...cut };
  },
};

function noticeOf({ names, left }: SkillSnapshot): string {
  return left === 0 ? '' : `\n[Cut: ${names.length} of ${names.length + left} skills are listed.]`;
}

/** Skills that were called by a command, in full: no need to read them first (S08). */
const calledSkillsLayer: Layer = {
  id: 'called-skills',
  volatility: 'turn',
  // Not in the system prompt, which would cost the cache of everything behind it for one turn.
  placement: 'user',
  modes: ['full', 'minimal'],
  render({ calledSkills = [], reader }, { heading = '## Called Skills' }) {
    if (calledSkills.length === 0) return absent('no skill was called');
    const bodies = calledSkills.map(({ source, text }) => `### ${source}\n${text.trim()}`);
    return {
      text: `${heading}\nThe person asked for this by a command. Follow it now.\n\n${bodies.join('\n\n')}`,
      source: calledSkills.map(({ source }) => source).join(', '),
      audience: narrowestAudience(calledSkills, reader),
    };
  },
};

/** Connected browsers, desktops and servers; a lost one is no longer listed (G03). */
export const connectorsLayer: Layer = {
  id: 'connectors',
  volatility: 'session',
  placement: 'system',
  modes: ['full', 'minimal'],
  render({ connectors = [], reader }, { heading = '## Connectors' }) {
    const connected = connectors.filter((connector) => connector.connected);
    if (connected.length === 0) return absent('nothing is connected');
    const lines = connected.map(({ name, text }) => listItem(`${name}: ${text}`));
    const source = connected.map(({ name }) => name).join(', ');
    return forChat(reader, [heading, ...lines].join('\n'), source);
  },
};

const MCP_NOTE = 'Prepared prompts that a person can pick; mention one where it would help.';

/** Prompts that connected MCP servers offer (G03). */
const mcpPromptsLayer: Layer = {
  id: 'mcp-prompts',
  volatility: 'session',
  placement: 'system',
  render({ mcpPrompts = [], reader }, { heading = '## MCP Prompts' }) {
    if (mcpPrompts.length === 0) return absent('no server offers prompts');
    const lines = mcpPrompts.map(({ server, name, description }) =>
      listItem(`\`${server}/${name}\`: ${description}`),
    );
    return forChat(
      reader,
      [heading, MCP_NOTE, ...lines].join('\n'),
      countOf(mcpPrompts.length, 'MCP prompt'),
    );
  },
};

/** What the agent can read on demand. */
const resourcesLayer: Layer = {
  id: 'resources',
  volatility: 'session',
  placement: 'system',
  modes: ['full', 'minimal'],
  render({ resources = [], reader }, { heading = '## Resources' }) {
    if (resources.length === 0) return absent('there are no resources');
    const lines = resources.map(({ name, location, description }) =>
      listItem(`${name} (${location}): ${description}`),
    );
    return forChat(
      reader,
      [heading, 'Read these when you need them.', ...lines].join('\n'),
      countOf(resources.length, 'resource'),
    );
  },
};

/** Where commands run (G06). */
const sandboxLayer: Layer = {
  id: 'sandbox',
  volatility: 'session',
  placement: 'system',
  modes: ['full', 'minimal'],
  render({ sandbox, reader }, { heading = '## Sandbox' }) {
    if (sandbox === undefined) return absent('no commands can be run');
    return forChat(
      reader,
      `${heading}\nCommands run in ${sandbox.kind}. ${sandbox.text}`,
      sandbox.kind,
    );
  },
};

/** What the agent can use: tools, skills, connections, commands. */
export function abilityLayers(): readonly Layer[] {
  return [
    toolsLayer(),
    skillsLayer,
    calledSkillsLayer,
    connectorsLayer,
    mcpPromptsLayer,
    resourcesLayer,
    sandboxLayer,
  ];
}
