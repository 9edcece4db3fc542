export {
  isGroupFile,
  isMemoryFile,
  isPrivateByDefault,
  resolveReader,
} from './audience.ts';
export { decideBootstrap } from './bootstrap.ts';
export { CLOSED_TO_COMMANDS } from './closed-paths.ts';
export { decodeFileText } from './file-text.ts';
export type { WritePlan } from './file-writer.ts';
export { isMarkdown } from './folded-names.ts';
export {
  MemoryFiles,
  type MemoryRemoval,
  type SavedMemory,
  type SaveResult,
  summarizeProfile,
} from './memory/memories.ts';
export {
  createMemoryId,
  type MemoryEntry,
  MemoryScope,
  MemoryType,
  parseMemoryFile,
  SAVED_FILES,
  toMemoryLine,
} from './memory/memory-file.ts';
export {
  isOutOfSession,
  type MemoryHit,
  type MemorySearch,
  openMemorySearch,
} from './memory/memory-search.ts';
export { type MemoryVersions, VERSIONS_FOLDER } from './memory/memory-versions.ts';
export { openWorkspace, type Workspace } from './open-workspace.ts';
export {
  type AudienceSplit,
  listOwnerIdentifiers,
  splitOwnerFile,
} from './owner-sections.ts';
export { listOtherFiles } from './paths.ts';
export {
  createPromptFiles,
  type FilePattern,
  matchesFilePattern,
  type PromptFiles,
  restrictView,
  toWorkspacePatterns,
} from './prompt-files.ts';
export {
  type AbsentSkill,
  SkillSnapshot,
  type SkillStatus,
  type SkillText,
} from './skills/catalogue.ts';
export { listSkillFolders } from './skills/find-skills.ts';
export { parseSkillCommand } from './skills/resolve-skills.ts';
export { openSkills, type Skills } from './skills/skills.ts';
export {
  getSoulText,
  type ManagedFile,
  openSoulFile,
  readSoulScenarios,
  SOUL,
  type SoulFile,
  type SoulFileContent,
  type SoulScenario,
  type WriteSoul,
} from './soul.ts';
export {
  addOwnerMarkToCopy,
  type CopyResult,
  copyIntoWorkspace,
  describeEncodingDoubt,
  type FolderSurvey,
  openFolderReader,
  readFileInside,
  type SurveyedEntry,
  surveyFolder,
  writeIntoWorkspace,
} from './survey.ts';
export {
  estimateQuarterTokens,
  estimateTokens,
  isBlank,
  type TextTruncation,
  truncateText,
} from './text.ts';
export {
  createLocalLock,
  type LockHold,
  type WorkspaceLock,
} from './workspace-lock.ts';
export type { AbsentFile, WorkspaceFile, WorkspaceView } from './workspace-view.ts';
