/**
 * Why a running turn must end: somebody asked for it, another worker has the lane now, a later message
 * is answered together with what it was about, or this process shuts down and the next one goes on with it.
 */
export type StopReason = 'stopped' | 'lease-lost' | 'interrupted' | 'handed-back';

/** Why a lane's signal fired; null while it has not. */
export function stopReasonOf(signal: AbortSignal): StopReason | null {
  if (!signal.aborted) return null;
  const { reason } = signal;
  return reason === 'stopped' || reason === 'lease-lost' || reason === 'interrupted'
    ? reason
    : 'handed-back';
}
