export { SandboxError } from './arguments.ts';
export type { CommandResult, TerminationReason } from './run.ts';
export { openSandbox, type Sandbox } from './sandbox.ts';
