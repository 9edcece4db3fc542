export { SandboxError } from './arguments.ts';
export type { CommandResult, EndingReason } from './run.ts';
export { openSandbox, type Sandbox } from './sandbox.ts';
