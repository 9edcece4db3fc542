/**
 * Why a running turn must end: somebody asked for it, another worker has the lane now, or this
 * process shuts down and the next one goes on with it.
 */
export type StopReason = 'stopped' | 'lease-lost' | 'handed-back';

/** Why a lane's signal fired; null while it has not. */
export function stopReasonOf(signal: AbortSignal): StopReason | null {
  if (!signal.aborted) return null;
  const { reason } = signal;
  return reason === 'stopped' || reason === 'lease-lost' ? reason : 'handed-back';
}
