import type { ChannelFormats } from '../channel-formats.ts';
import type { Layer } from '../layer.ts';
import { approvalsLayer } from './approvals-layer.ts';
import { attachmentsLayer } from './attachments-layer.ts';
import { calledSkillsLayer } from './called-skills-layer.ts';
import { chatFactsLayer } from './chat-facts-layer.ts';
import { cliLayer } from './cli-layer.ts';
import { conflictOrderLayer } from './conflict-order-layer.ts';
import { connectorsLayer } from './connectors-layer.ts';
import { conversationModeLayer } from './conversation-mode-layer.ts';
import { currentTimeLayer } from './current-time-layer.ts';
import { dailyNotesLayer } from './daily-notes-layer.ts';
import { formatLayer } from './format-layer.ts';
import { groupContextLayer } from './group-context-layer.ts';
import { groupMemoryLayer } from './group-memory-layer.ts';
import { heartbeatLayer } from './heartbeat-layer.ts';
import { identityLayer } from './identity-layer.ts';
import { knowledgeLayer } from './knowledge-layer.ts';
import { mcpPromptsLayer } from './mcp-prompts-layer.ts';
import { memoriesLayer } from './memories-layer.ts';
import { memoryGuideLayer } from './memory-guide-layer.ts';
import { messageContextLayer } from './message-context-layer.ts';
import { messagingLayer } from './messaging-layer.ts';
import { outputFormatLayer } from './output-format-layer.ts';
import { personaLayer } from './persona-layer.ts';
import { profileLayer } from './profile-layer.ts';
import { replyTagsLayer } from './reply-tags-layer.ts';
import { resourcesLayer } from './resources-layer.ts';
import { responseFormatLayer } from './response-format-layer.ts';
import { runtimeFactsLayer } from './runtime-facts-layer.ts';
import { sandboxLayer } from './sandbox-layer.ts';
import { silentRepliesLayer } from './silent-replies-layer.ts';
import { skillsLayer } from './skills-layer.ts';
import { todosLayer } from './todos-layer.ts';
import { toolCallStyleLayer } from './tool-call-style-layer.ts';
import { toolsLayer } from './tools-layer.ts';
import { turnFactsLayer } from './turn-facts-layer.ts';
import { workflowLayer } from './workflow-layer.ts';
import { workspaceContextLayer } from './workspace-context-layer.ts';
import { workspaceFileLayer } from './workspace-file-layer.ts';
import { workspaceFolderLayer } from './workspace-folder-layer.ts';
import { yesterdayLayer } from './yesterday-layer.ts';

/**
 * The layers that come with Parley, for `createLayerRegistry`; safety and the ephemeral prompt are
 * always there by themselves. `channelFormats` is what `readChannelFormats` gave.
 */
export function houseLayers(channelFormats: ChannelFormats = {}): readonly Layer[] {
  return [
    ...whoLayers(),
    ...howLayers(),
    ...whatItCanDo(),
    ...whatItKnows(),
    ...whereAndWhen(),
    formatLayer(channelFormats),
  ];
}

function whoLayers(): readonly Layer[] {
  return [
    identityLayer,
    personaLayer,
    workspaceFileLayer({ id: 'soul-file', file: 'SOUL.md', volatility: 'static' }),
    workspaceFileLayer({ id: 'identity-file', file: 'IDENTITY.md', volatility: 'static' }),
    workspaceContextLayer,
  ];
}

function howLayers(): readonly Layer[] {
  return [
    workspaceFileLayer({ id: 'agents-file', file: 'AGENTS.md', volatility: 'static' }),
    workspaceFileLayer({ id: 'bootstrap-file', file: 'BOOTSTRAP.md', volatility: 'session' }),
    workspaceFileLayer({ id: 'boot-file', file: 'BOOT.md', volatility: 'turn' }),
    workspaceFileLayer({ id: 'heartbeat-file', file: 'HEARTBEAT.md', volatility: 'turn' }),
    workflowLayer,
    conflictOrderLayer,
    conversationModeLayer,
    approvalsLayer,
    heartbeatLayer,
    messagingLayer,
    replyTagsLayer,
    silentRepliesLayer,
    outputFormatLayer,
    responseFormatLayer,
  ];
}

function whatItCanDo(): readonly Layer[] {
  return [
    toolsLayer(),
    toolCallStyleLayer,
    workspaceFileLayer({ id: 'tools-file', file: 'TOOLS.md', volatility: 'static' }),
    skillsLayer,
    calledSkillsLayer,
    connectorsLayer,
    mcpPromptsLayer,
    resourcesLayer,
    sandboxLayer,
    cliLayer,
  ];
}

function whatItKnows(): readonly Layer[] {
  return [
    workspaceFileLayer({ id: 'user-file', file: 'USER.md', volatility: 'session' }),
    workspaceFileLayer({ id: 'memory-file', file: 'MEMORY.md', volatility: 'session' }),
    dailyNotesLayer,
    groupMemoryLayer,
    memoryGuideLayer,
    profileLayer,
    memoriesLayer,
    knowledgeLayer,
    yesterdayLayer,
    todosLayer,
  ];
}

function whereAndWhen(): readonly Layer[] {
  return [
    chatFactsLayer,
    turnFactsLayer,
    runtimeFactsLayer,
    currentTimeLayer,
    workspaceFolderLayer,
    attachmentsLayer,
    groupContextLayer,
    messageContextLayer,
  ];
}
