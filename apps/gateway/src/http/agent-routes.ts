import type { Hono } from 'hono';
import type { AppEnv } from './access.ts';
import {
  heartbeatRoutes,
  orRefused,
  type PromptInspector,
  type ShownHeartbeat,
  type SoulPage,
  soulRoutes,
  uncachedRoutes,
} from './api-routes.ts';
import { type WorkspacePage, workspaceRoutes } from './workspace-routes.ts';

/** An agent as a list shows it. */
export interface ShownAgent {
  /** As the settings name it. */
  readonly id: string;
  /** What it is called in its chats. */
  readonly name: string;
  /** Which model answers, and why. */
  readonly model: string;
}

/** What an agent has for itself on the page (F14). */
export interface AgentPage extends ShownAgent {
  readonly heartbeat: ShownHeartbeat;
  readonly soul: SoulPage;
  readonly preview: PromptInspector['preview'];
  readonly workspace: () => Promise<WorkspacePage>;
}

/**
 * The agents, the default one first, below `/api/agents`, and what each has for itself below `/api/agents/ID`: the
 * same as without `agents/ID` for the default one.
 */
export function agentRoutes(agents: readonly AgentPage[]): Hono<AppEnv> {
  const app = uncachedRoutes<AppEnv>();
  app.get('/', (c) =>
    c.json({ agents: agents.map(({ id, name, model }): ShownAgent => ({ id, name, model })) }),
  );
  for (const { id, heartbeat, soul, preview, workspace } of agents) {
    app.route(`/${id}/heartbeat`, heartbeatRoutes(heartbeat));
    app.route(`/${id}/soul`, soulRoutes(soul));
    app.get(`/${id}/prompts/preview`, (c) => orRefused(c, preview(c.req.query())));
    app.route(`/${id}/workspace`, workspaceRoutes(workspace));
  }
  return app;
}
