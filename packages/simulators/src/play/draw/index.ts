export { drawDiscord } from './discord.ts';
export { escapeText } from './escape.ts';
export { drawMarkedLines } from './marked-lines.ts';
export { drawSlack } from './slack.ts';
export { drawTelegram } from './telegram.ts';
