/** The whole message of a heartbeat that found nothing to tell (H03); nobody must read it. */
export const QUIET_TOKEN = 'HEARTBEAT_OK';

/** The whole message with which the agent says nothing in a talk (G09). */
export const SILENT_TOKEN = 'NO_REPLY';
