import { ParleyError } from '@parley/contracts';

/**
 * `sandbox-missing`: bubblewrap is not installed. `sandbox-forbidden`: the machine does not let it
 * work. `sandbox-folder`: the workspace cannot be shut off from what it must not reach.
 */
export type SandboxErrorCode = 'sandbox-missing' | 'sandbox-forbidden' | 'sandbox-folder';

/** Thrown instead of running a command unprotected. Its message says what to do about it. */
export class SandboxError extends ParleyError {
  constructor(code: SandboxErrorCode, message: string, cause?: unknown) {
    super({ code, message, retryable: false, cause });
  }
}

/** bubblewrap is not there. */
export function missing(program: string, cause: unknown): SandboxError {
  const message = `Commands are not run, because bubblewrap (${program}) is not installed, and they never run unprotected. Install the package "bubblewrap": apt install bubblewrap, dnf install bubblewrap, apk add bubblewrap. It exists on Linux only.`;
  return new SandboxError('sandbox-missing', message, cause);
}

/** bubblewrap is there and cannot make a sandbox; `said` are its own words. */
export function forbidden(said: string): SandboxError {
  const words = said.trim() === '' ? 'it did not say why' : said.trim().slice(0, 500);
  const message = `Commands are not run, because bubblewrap cannot make a sandbox here (${words}), and they never run unprotected. It needs user namespaces: sysctl kernel.unprivileged_userns_clone=1, or on newer Ubuntu kernel.apparmor_restrict_unprivileged_userns=0; in Docker they need a seccomp profile that allows them.`;
  return new SandboxError('sandbox-forbidden', message);
}
