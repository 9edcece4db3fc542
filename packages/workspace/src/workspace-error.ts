import { ParleyError, reasonOf } from '@parley/core';

/** `workspace-folder`: the folder cannot be made or used. `workspace-templates`: the templates cannot be read. */
export type WorkspaceErrorCode = 'workspace-folder' | 'workspace-templates' | 'soul-scenarios';

/** Thrown while a workspace is opened; reading a file never throws, it returns why there is nothing. */
export class WorkspaceError extends ParleyError {
  constructor(code: WorkspaceErrorCode, message: string, cause?: unknown) {
    super({ code, message, retryable: false, cause });
  }
}

/** Why the disk refused, without the path on this machine that the system's own message holds: guests read it. */
export function diskReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : reasonOf(error);
}
