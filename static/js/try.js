// What a try leaves behind can be heard, with the keys of every player.
import { bind } from "./keys.js";
import { playerKeys } from "./player-keys.js";
import { followPlayer } from "./tried-player.js";

bind(playerKeys(followPlayer(/** @type {HTMLElement} */ (document.getElementById("try-told")))));
