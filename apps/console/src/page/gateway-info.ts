import { fieldsOf } from './chat/wire.ts';
import { request } from './session.ts';

/** What the page says of the agent and its model. */
export interface AgentInfo {
  readonly name: string;
  /** Which model answers and why, in one sentence; empty until it is known. */
  readonly model: string;
  /** No model of the operator's choice answers yet. */
  readonly offline: boolean;
}

/** Before the gateway has said more. */
export const SOME_AGENT: AgentInfo = { name: 'Parley', model: '', offline: false };

/** Asks the gateway; null when it does not say. */
export async function askAgentInfo(): Promise<AgentInfo | null> {
  try {
    const response = await request('/api/status');
    if (!response.ok) return null;
    const { agent, model } = fieldsOf(await response.json());
    if (typeof agent !== 'string' || typeof model !== 'string') return null;
    return { name: agent, model, offline: model.startsWith('offline') };
  } catch {
    return null;
  }
}
