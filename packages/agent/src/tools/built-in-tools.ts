import { OPEN_TOOLS } from '@parley/prompt';
import type { TodoRepository } from '@parley/store';
import {
  createPromptFiles,
  type MemorySearch,
  type PromptFiles,
  type Skills,
} from '@parley/workspace';
import type { MemoryService } from '../memory/memory-service.ts';
import { createSaveMemoryTool, createSearchMemoryTool } from '../memory/memory-source.ts';
import { createDelegateTaskTool } from '../sub-agents/delegate-task.ts';
import { askUserTool } from './ask-user.ts';
import { createExecTool, type ExecDeps } from './exec.ts';
import { createMessageTool } from './message.ts';
import { type BotMessageToolDeps, createBotMessageTools } from './own-messages.ts';
import { createProposeSoulTool } from './propose-soul-change.ts';
import { createReadDocumentTool, type ReadDocumentDeps } from './read-document.ts';
import { grepTool, listTool, readTool } from './read-files.ts';
import { createSendFileTool, type SendFileDeps } from './send-file.ts';
import { createLoadSkillTool } from './skills.ts';
import { createSpeakTool, type SpeakDeps } from './speak.ts';
import { createCronTool, currentTimeTool } from './time-tools.ts';
import { createWriteTodosTool } from './todos.ts';
import type { Tool } from './tool.ts';
import { createWebTools, type WebSettings } from './web-tools.ts';
import { createEditTool, createWriteTool } from './write-files.ts';

/** The services that the built-in tools need. A tool whose service is absent is not offered. */
export interface BuiltInToolDeps {
  /** The files for which `write` and `edit` ask for approval; all files if absent. */
  readonly promptFiles?: PromptFiles;
  readonly skills?: Pick<Skills, 'read'>;
  readonly memory?: { readonly service: MemoryService; readonly search: MemorySearch };
  readonly todos?: Pick<TodoRepository, 'replace' | 'of'>;
  readonly delegation?: Parameters<typeof createDelegateTaskTool>[0];
  readonly cron?: Parameters<typeof createCronTool>[0];
  readonly messages?: Parameters<typeof createMessageTool>[0];
  readonly documents?: ReadDocumentDeps;
  readonly sendFile?: SendFileDeps;
  readonly speak?: SpeakDeps;
  readonly ownMessages?: BotMessageToolDeps;
  readonly soul?: Parameters<typeof createProposeSoulTool>[0];
  readonly exec?: ExecDeps;
  readonly web?: WebSettings;
}

/** The names of all built-in tools, including tools that an installation does not offer. */
export const BUILT_IN_TOOLS: readonly string[] = [
  ...['read', 'list', 'grep', 'write', 'edit', 'load_skill', 'save_memory', 'search_memory'],
  ...['write_todos', 'delegate_task', 'cron', 'message', 'read_document', 'send_file', 'speak'],
  ...['react', 'edit_message', 'delete_message', 'propose_soul_change', 'exec', 'web_fetch'],
  ...['web_search', 'ask_user', 'current_time', OPEN_TOOLS],
];

/** The built-in tools (G02), in prompt order. */
export function createBuiltInTools({
  promptFiles = createPromptFiles(['/']),
  skills,
  memory,
  delegation,
  cron,
  messages,
  documents,
  sendFile,
  speak,
  ownMessages,
  todos,
  soul,
  exec,
  web,
}: BuiltInToolDeps): readonly Tool[] {
  return [
    readTool,
    listTool,
    grepTool,
    createWriteTool(promptFiles),
    createEditTool(promptFiles),
    ...(skills === undefined ? [] : [createLoadSkillTool(skills)]),
    ...(memory === undefined
      ? []
      : [createSaveMemoryTool(memory.service), createSearchMemoryTool(memory.search)]),
    ...(todos === undefined ? [] : [createWriteTodosTool(todos)]),
    ...(delegation === undefined ? [] : [createDelegateTaskTool(delegation)]),
    ...(cron === undefined ? [] : [createCronTool(cron)]),
    ...(messages === undefined ? [] : [createMessageTool(messages)]),
    ...(documents === undefined ? [] : [createReadDocumentTool(documents)]),
    ...(sendFile === undefined ? [] : [createSendFileTool(sendFile)]),
    ...(speak === undefined ? [] : [createSpeakTool(speak)]),
    ...(ownMessages === undefined ? [] : createBotMessageTools(ownMessages)),
    ...(soul === undefined ? [] : [createProposeSoulTool(soul)]),
    ...(exec === undefined ? [] : [createExecTool(exec)]),
    ...(web === undefined ? [] : createWebTools(web)),
    askUserTool,
    currentTimeTool,
  ];
}
