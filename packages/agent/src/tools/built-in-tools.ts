import type { TodoRepository } from '@parley/store';
import {
  createPromptFiles,
  type MemorySearch,
  type PromptFiles,
  type Skills,
} from '@parley/workspace';
import type { MemoryService } from '../memory/memory-service.ts';
import { saveMemoryTool, searchMemoryTool } from '../memory/memory-source.ts';
import { delegateTaskTool } from '../sub-agents/delegate-task.ts';
import { askUserTool } from './ask-user.ts';
import { type ExecDeps, execTool } from './exec.ts';
import { messageTool } from './message.ts';
import { type OwnMessagesDeps, ownMessageTools } from './own-messages.ts';
import { proposeSoulChangeTool } from './propose-soul-change.ts';
import { type ReadDocumentDeps, readDocumentTool } from './read-document.ts';
import { grepTool, listTool, readTool } from './read-files.ts';
import { type SendFileDeps, sendFileTool } from './send-file.ts';
import { loadSkillTool } from './skills.ts';
import { type SpeakDeps, speakTool } from './speak.ts';
import { cronTool, currentTimeTool } from './time-tools.ts';
import { writeTodosTool } from './todos.ts';
import type { Tool } from './tool.ts';
import { type WebSettings, webTools } from './web-tools.ts';
import { editTool, writeTool } from './write-files.ts';

/** The services of the built-in tools. A tool whose field is absent is not offered. */
export interface BuiltInToolDeps {
  /** The files for which `write` and `edit` ask; every file when absent. */
  readonly promptFiles?: PromptFiles;
  readonly skills?: Pick<Skills, 'read'>;
  readonly memory?: { readonly service: MemoryService; readonly search: MemorySearch };
  readonly todos?: Pick<TodoRepository, 'replace' | 'of'>;
  readonly delegation?: Parameters<typeof delegateTaskTool>[0];
  readonly cron?: Parameters<typeof cronTool>[0];
  readonly messages?: Parameters<typeof messageTool>[0];
  readonly documents?: ReadDocumentDeps;
  readonly sendFile?: SendFileDeps;
  readonly speak?: SpeakDeps;
  readonly ownMessages?: OwnMessagesDeps;
  readonly soul?: Parameters<typeof proposeSoulChangeTool>[0];
  readonly exec?: ExecDeps;
  readonly web?: WebSettings;
}

/** The names of all built-in tools, including those missing from an installation. */
export const BUILT_IN_TOOLS: readonly string[] = [
  ...['read', 'list', 'grep', 'write', 'edit', 'load_skill', 'save_memory', 'search_memory'],
  ...['write_todos', 'delegate_task', 'cron', 'message', 'read_document', 'send_file', 'speak'],
  ...['react', 'edit_message', 'delete_message', 'propose_soul_change', 'exec', 'web_fetch'],
  ...['web_search', 'ask_user', 'current_time'],
];

/** The built-in tools (G02), in prompt order. */
export function builtInTools({
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
    writeTool(promptFiles),
    editTool(promptFiles),
    ...(skills === undefined ? [] : [loadSkillTool(skills)]),
    ...(memory === undefined
      ? []
      : [saveMemoryTool(memory.service), searchMemoryTool(memory.search)]),
    ...(todos === undefined ? [] : [writeTodosTool(todos)]),
    ...(delegation === undefined ? [] : [delegateTaskTool(delegation)]),
    ...(cron === undefined ? [] : [cronTool(cron)]),
    ...(messages === undefined ? [] : [messageTool(messages)]),
    ...(documents === undefined ? [] : [readDocumentTool(documents)]),
    ...(sendFile === undefined ? [] : [sendFileTool(sendFile)]),
    ...(speak === undefined ? [] : [speakTool(speak)]),
    ...(ownMessages === undefined ? [] : ownMessageTools(ownMessages)),
    ...(soul === undefined ? [] : [proposeSoulChangeTool(soul)]),
    ...(exec === undefined ? [] : [execTool(exec)]),
    ...(web === undefined ? [] : webTools(web)),
    askUserTool,
    currentTimeTool,
  ];
}
