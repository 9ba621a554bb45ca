// The queue of reviews: Enter begins with the first.
import { bind } from "./keys.js";

bind([{ key: "Enter", label: "Review the first", run: () => document.getElementById("begin")?.click() }]);
