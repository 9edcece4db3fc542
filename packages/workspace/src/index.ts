export type { Bootstrap } from './bootstrap/bootstrap.ts';
export { type BootstrapMark, decideBootstrap } from './bootstrap/decide-bootstrap.ts';
export { type Cut, cutText } from './cut-text.ts';
export { estimateTokens, quarterTokens } from './estimate-tokens.ts';
export { isOwnersByDefault } from './file-audience.ts';
export type { WritePlan, WriteResult } from './file-writer.ts';
export { isBlank } from './is-blank.ts';
export {
  type Memories,
  openMemories,
  type Removal,
  type SavedMemory,
  type SaveResult,
} from './memory/memories.ts';
export {
  type MemoryEntry,
  MemoryScope,
  MemoryType,
  memoryId,
  memoryLine,
} from './memory/memory-entry.ts';
export {
  isOver,
  type MemoryHit,
  type MemorySearch,
  openMemorySearch,
} from './memory/memory-search.ts';
export {
  type MemoryChange,
  type MemoryVersions,
  VERSIONS_FOLDER,
} from './memory/memory-versions.ts';
export { SAVED_FILES } from './memory/passages.ts';
export { profileOf } from './memory/profile.ts';
export {
  DEFAULT_WORKSPACE_LIMITS,
  type OpenWorkspaceOptions,
  openWorkspace,
  type Workspace,
  type WorkspaceLimits,
} from './open-workspace.ts';
export {
  createPromptFiles,
  type DeclaredReads,
  type FilePattern,
  type PromptFiles,
  patternsInside,
  restrictView,
} from './prompt-files.ts';
export { type ReaderFacts, readerOf } from './reader-of.ts';
export { CLOSED_TO_COMMANDS, type ShellCommands } from './shell-commands.ts';
export { parseSkillCommand, type TypedSkillCommand } from './skills/command-name.ts';
export type { SkillFacts } from './skills/eligibility.ts';
export type { OpenSkillsOptions, SkillSettings } from './skills/look-at-skills.ts';
export { openSkills } from './skills/open-skills.ts';
export { type SkillFolder, type SkillPlaces, skillFolders } from './skills/skill-folder.ts';
export { SkillSnapshot } from './skills/skill-snapshot.ts';
export type {
  AbsentSkill,
  SkillCommand,
  SkillSource,
  SkillState,
  SkillStatus,
  Skills,
  SkillText,
} from './skills/skills.ts';
export type { GovernedFile } from './soul/governed-file.ts';
export { readSoulScenarios, type SoulScenario } from './soul/read-scenarios.ts';
export {
  openSoulFile,
  SOUL,
  type SoulFile,
  type SoulOnDisk,
  soulText,
  type WriteSoul,
} from './soul/soul-file.ts';
export { type CopyResult, copyIntoWorkspace, markedCopy } from './survey/copy-into-workspace.ts';
export {
  readInside,
  type Survey,
  type SurveyedEntry,
  type SurveyedSkill,
  surveyFolder,
} from './survey/survey-folder.ts';
export { WorkspaceError, type WorkspaceErrorCode } from './workspace-error.ts';
export { type Hold, localLock, type WorkspaceLock } from './workspace-lock.ts';
export type { AbsentFile, WorkspaceEntry, WorkspaceFile, WorkspaceView } from './workspace-view.ts';
