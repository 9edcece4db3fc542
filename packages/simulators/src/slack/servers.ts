import type { Courier } from './courier.ts';
import type { Interactions } from './interactions.ts';
import type { Workspace } from './workspace.ts';

/** The servers: the workspace, what people are doing in it, and the way to the bot. */
export interface Servers {
  readonly workspace: Workspace;
  readonly interactions: Interactions;
  readonly courier: Courier;
}
