import type { Scene } from '../scene.ts';
import { embedded, shared } from './talk.ts';
import { approvalsEmbedded, approvalsShared } from './approvals.ts';
import { toolsEmbedded, toolsShared } from './tools.ts';

/** All scenes, in the order in which a run takes them in turns. */
export const SCENES: readonly Scene[] = [embedded, shared, toolsEmbedded, toolsShared, approvalsEmbedded, approvalsShared];
