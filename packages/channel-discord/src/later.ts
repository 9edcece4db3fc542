import { guarded } from '@parley/channels';

/** Calls back once after `ms`, keeping no process alive for it; gives back how to call it off. */
export function later(work: () => void, ms: number): () => void {
  const timer = setTimeout(guarded('timer', work), ms).unref();
  return () => clearTimeout(timer);
}
