export {
  isGroupFile,
  isMemory,
  isPrivateByDefault as isOwnersByDefault,
  resolveReader as readerOf,
} from './audience.ts';
export { decideBootstrap } from './bootstrap.ts';
export { CLOSED_TO_COMMANDS } from './closed-paths.ts';
export { decodeFileText as textOfFile } from './file-text.ts';
export type { WritePlan } from './file-writer.ts';
export { isMarkdown } from './folded-names.ts';
export {
  MemoryFiles as Memories,
  type MemoryRemoval as Removal,
  type SavedMemory,
  type SaveResult,
  summarizeProfile as profileOf,
} from './memory/memories.ts';
export {
  createMemoryId as memoryId,
  type MemoryEntry,
  MemoryScope,
  MemoryType,
  parseMemoryFile,
  SAVED_FILES,
  toMemoryLine as memoryLine,
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
  listOwnerMarks as ownersMarks,
  type SplitText,
  splitOwnersFile,
} from './owner-sections.ts';
export { listOtherFiles as otherFiles } from './paths.ts';
export {
  coversFile,
  createPromptFiles,
  type FilePattern,
  type PromptFiles,
  restrictView,
  toPatternsInside as patternsInside,
} from './prompt-files.ts';
export {
  type AbsentSkill,
  SkillSnapshot,
  type SkillStatus,
  type SkillText,
} from './skills/catalogue.ts';
export { listSkillFolders as skillFolders } from './skills/find-skills.ts';
export { parseSkillCommand } from './skills/resolve-skills.ts';
export { openSkills, type Skills } from './skills/skills.ts';
export {
  getSoulText as soulText,
  type ManagedFile,
  openSoulFile,
  readSoulScenarios,
  SOUL,
  type SoulFile,
  type SoulOnDisk,
  type SoulScenario,
  type WriteSoul,
} from './soul.ts';
export {
  addOwnerMarkToCopy as markedCopy,
  type CopyResult,
  copyIntoWorkspace,
  describeEncodingDoubt as encodingDoubt,
  type FolderSurvey as Survey,
  openForReading,
  readInside,
  type SurveyedEntry,
  surveyFolder,
  writeIntoWorkspace,
} from './survey.ts';
export {
  cutText,
  estimateQuarterTokens as quarterTokens,
  estimateTokens,
  isBlank,
  type TextCut as Cut,
} from './text.ts';
export {
  createLocalLock as localLock,
  type LockHold as Hold,
  type WorkspaceLock,
} from './workspace-lock.ts';
export type { AbsentFile, WorkspaceFile, WorkspaceView } from './workspace-view.ts';
