import { ContextSwitches } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { createPromptAssembler } from './assembler.ts';
import { applyContextSwitches } from './context-blocks.ts';
import type { PromptContext } from './layer.ts';
import { createBuiltInLayers, createLayerRegistry } from './layout.ts';
import { BUILT_IN_LAYOUTS, getLayout } from './layouts.ts';
import {
  createContext,
  createView,
  EXAMPLE_FACTS,
  OWNER,
  OWNER_FEATURES,
  SKILLS,
} from './testing/example-turn.ts';

const layers = createLayerRegistry(createBuiltInLayers());
const GROUP = { ...EXAMPLE_FACTS, chatType: 'group', groupId: '8' } as const;

const FILES = {
  ...Object.fromEntries(
    ['AGENTS', 'USER', 'TOOLS', 'MEMORY'].map((name) => [`${name}.md`, `text of ${name}.`]),
  ),
  'memory/2026-11-21.md': 'text of today.',
  'groups/here.md': 'text of the group.',
};

const full = (facts: PromptContext['facts']): PromptContext =>
  createContext({
    facts,
    view: createView(OWNER, FILES),
    skills: SKILLS,
    ...OWNER_FEATURES,
    replyTags: true,
    ownMessages: [{ what: 'notice', text: 'It is done.' }],
    groupContext: [{ senderId: '9', senderName: 'Cy', text: 'What next?' }],
  });

async function prompt(layout: string, switches: ContextSwitches, facts = EXAMPLE_FACTS) {
  const assembler = createPromptAssembler({
    layers,
    layout: applyContextSwitches(getLayout(layout), switches),
  });
  const { system, userContext, report } = await assembler.assemble(full(facts));
  const text = (parts: readonly { readonly text: string }[]) =>
    parts.map((part) => part.text).join('\n\n');
  return { system: text(system), context: text(userContext), report };
}

describe('the blocks of [memory context]', () => {
  it.each<[keyof ContextSwitches, string, typeof EXAMPLE_FACTS?]>([
    ['time', 'Time: 14:05'],
    ['facts', '## Runtime Facts'],
    ['message', '<message-context>'],
    ['groupContext', '<group-context>'],
    ['ownMessages', '<own-messages>'],
    ['attachments', '## Attachments'],
    ['profile', 'text of USER.'],
    ['memory', 'text of MEMORY.'],
    ['groupMemory', 'text of the group.', GROUP],
    ['yesterday', '## Conversation Summary'],
    ['memories', '## Memories'],
    ['knowledge', '## Knowledge'],
    ['todos', '## To-dos'],
    ['agents', 'text of AGENTS.'],
    ['toolNotes', 'text of TOOLS.'],
    ['mode', '## Mode'],
    ['approvals', '## Approvals'],
    ['silentReplies', '## Silent Replies'],
    ['replyTags', '## Reply Tags'],
    ['connectors', '## Connectors'],
    ['mcpPrompts', '## MCP Prompts'],
    ['resources', '## Resources'],
    ['sandbox', '## Sandbox'],
  ])('[P05] lose only the %s block when it is switched off', async (name, text, facts) => {
    const [on, off] = await Promise.all([
      prompt('lab', {}, facts),
      prompt('lab', { [name]: false }, facts),
    ]);
    expect(on.context).toContain(text);
    expect(off.context).not.toContain(text);
    expect(off.system).toBe(on.system);
    // Files mentioned in a message belong to the message, as attachments do.
    const changed = off.report.filter((line, at) => line.outcome !== on.report[at]?.outcome);
    expect(changed.map((line) => line.outcome === 'absent' && line.reason)).toEqual(
      name === 'time' ? [] : changed.map(() => `agent.context.${name} is false`),
    );
  });

  it('[P05] do not contain daily notes by default: the diary is a skill', async () => {
    expect((await prompt('lab', {})).context).not.toContain('text of today.');
    expect((await prompt('lab', { diary: true })).context).toContain('text of today.');
    expect((await prompt('parley', {})).system).toContain('text of today.');
    expect((await prompt('parley', { diary: false })).system).not.toContain('text of today.');
  });

  it("[P05] have one switch each, except for the blocks about the turn's own subject", () => {
    const all = Object.fromEntries(ContextSwitches.keyof().options.map((name) => [name, false]));
    const left = applyContextSwitches(getLayout('lab'), all)
      .layers.filter(({ off, layer, placement = layers.get(layer)?.placement }) => {
        return off === undefined && placement === 'user';
      })
      .map(({ layer }) => layer);
    expect(left).toEqual([
      ...['bootstrap-file', 'boot-file', 'called-skills', 'heartbeat', 'response-format'],
      'ephemeral',
    ]);
  });
});

it.each(BUILT_IN_LAYOUTS.map(({ name }) => name))(
  '[P05] [P12] can also be switched in the %s layout, and no switch affects safety',
  async (layout) => {
    const all = Object.fromEntries(ContextSwitches.keyof().options.map((name) => [name, false]));
    const { system, context } = await prompt(layout, all);
    expect(`${system}${context}`).not.toMatch(/text of|14:0\d|2026-11-21|Channel:/);
    expect(system).toContain('## Safety');
  },
);
