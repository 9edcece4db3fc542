import { type ContextBlock, ContextSwitches } from '@parley/core';
import type { LayerId } from './layer.ts';
import type { Layout, LayoutEntry } from './layout.ts';

/** The layers in each block, and the block's workspace file that other layers may show. */
const BLOCKS: Readonly<
  Record<ContextBlock, { readonly layers: readonly LayerId[]; readonly file?: string }>
> = {
  time: { layers: ['current-time'] },
  facts: { layers: ['chat-facts', 'turn-facts', 'lasting-facts', 'runtime-facts'] },
  message: { layers: ['message-context'] },
  groupContext: { layers: ['group-context'] },
  ownMessages: { layers: ['own-messages'] },
  attachments: { layers: ['attachments', 'mentioned-files'] },
  profile: { layers: ['profile', 'user-file'], file: 'USER.md' },
  memory: { layers: ['memory-file'], file: 'MEMORY.md' },
  diary: { layers: ['daily-notes'] },
  groupMemory: { layers: ['group-memory'] },
  yesterday: { layers: ['yesterday'] },
  memories: { layers: ['memories'] },
  knowledge: { layers: ['knowledge'] },
  todos: { layers: ['todos'] },
  agents: { layers: ['agents-file'], file: 'AGENTS.md' },
  toolNotes: { layers: ['tools-file'], file: 'TOOLS.md' },
  mode: { layers: ['conversation-mode'] },
  approvals: { layers: ['approvals'] },
  silentReplies: { layers: ['silent-replies'] },
  replyTags: { layers: ['reply-tags'] },
  connectors: { layers: ['connectors'] },
  mcpPrompts: { layers: ['mcp-prompts'] },
  resources: { layers: ['resources'] },
  sandbox: { layers: ['sandbox'] },
};
const NAMES = ContextSwitches.keyof().options;

/**
 * The layout after the settings have switched blocks off or on (P05). No block contains the safety
 * layer.
 */
export function applyContextSwitches(layout: Layout, switches: ContextSwitches): Layout {
  return { ...layout, layers: layout.layers.map((entry) => applySwitchesToEntry(entry, switches)) };
}

function applySwitchesToEntry(entry: LayoutEntry, switches: ContextSwitches): LayoutEntry {
  const { off, files, ...rest } = entry;
  const isOff = (file: string) =>
    NAMES.some((name) => BLOCKS[name].file === file && switches[name] === false);
  const block = NAMES.find((name) => BLOCKS[name].layers.includes(entry.layer));
  const state = block === undefined ? undefined : switches[block];
  const why = state === false ? `agent.context.${block} is false` : off;
  return {
    ...rest,
    ...(files !== undefined && { files: files.filter((file) => !isOff(file)) }),
    ...(switches.time === false && { clock: false }),
    ...(why !== undefined && state !== true && { off: why }),
  };
}
